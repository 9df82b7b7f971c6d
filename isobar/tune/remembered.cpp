#include "isobar/tune/remembered.hpp"

#include <omp.h>

#include <fmt/format.h>

#include "isobar/machine/machine.hpp"

namespace isobar::tune {

TuningCache cache_of(const Spec& model, std::int64_t batch) {
  return tuning_cache(machine::this_machine().processor, omp_get_max_threads(), model.str(), batch);
}

std::shared_ptr<const ops::Tuning> known_tuning(const Spec& model, std::int64_t batch) {
  const Remembered known = read_tuning(cache_of(model, batch));
  if (!known.problem.empty()) fmt::print(stderr, "isobar: tuning is not used: {}\n", known.problem);
  if (!known.record) return nullptr;
  ops::Tuning tuning = tuning_of(known.record->findings);
  return tuning.all().empty() ? nullptr : std::make_shared<const ops::Tuning>(std::move(tuning));
}

}  // namespace isobar::tune
