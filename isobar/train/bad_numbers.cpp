#include "isobar/train/bad_numbers.hpp"

namespace isobar::train {

BadNumbers read_bad_numbers(Args& train) {
  BadNumbers numbers;
  const std::string policy = train.one_of("bad_numbers", "stop", {"stop", "skip", "rewind"});
  if (policy == "skip") numbers.policy = BadNumbers::Policy::skip;
  if (policy == "rewind") numbers.policy = BadNumbers::Policy::rewind;
  numbers.skips_in_a_row = train.integer("skips_in_a_row", numbers.skips_in_a_row);
  numbers.rewind_rate = train.real("rewind_rate", numbers.rewind_rate);
  numbers.rewinds = train.integer("rewinds", numbers.rewinds);
  numbers.rewind_every = train.integer("rewind_every", numbers.rewind_every);
  train.require(numbers.skips_in_a_row >= 1, "skips_in_a_row must be at least 1");
  train.require(numbers.rewind_rate > 0 && numbers.rewind_rate <= 1, "rewind_rate must be above 0 and at most 1");
  train.require(numbers.rewinds >= 0, "rewinds must be >= 0");
  train.require(numbers.rewind_every >= 1, "rewind_every must be at least 1");
  return numbers;
}

}  // namespace isobar::train
