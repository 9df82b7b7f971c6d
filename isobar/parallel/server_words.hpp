// What workers and parameter servers tell each other, and which server keeps which parameter. A worker sends a question
// and what belongs to it; the server answers in the same way. All numbers travel as they lie in memory, one parameter
// after the other, in the order of the model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isobar/optim/optimizer.hpp"

namespace isobar::parallel {

/// A parameter as a server must know it; the first worker tells.
struct ServedParameter {
  std::uint64_t count = 0;
  double rate_scale = 1, decay_scale = 1;
  std::uint64_t trained = 1;
  std::int64_t server = 0;  ///< which keeps it; -1: none, ranks do so by themselves
};

/// Which of so many servers keeps each parameter: the largest first, each goes to the server with the fewest numbers.
std::vector<int> deal_by_size(std::span<const ServedParameter> parameters, int servers);

struct Question {
  enum class Kind : std::int32_t {
    begin,  ///< the parameters and the state that the run begins with; not answered
    push,   ///< gradients or weights; answered with what the worker goes on with
    state,  ///< answered with the whole state
    done,   ///< this worker takes no more steps; answered when none does, the first worker with the whole state
  };
  Kind kind = Kind::begin;
  std::int16_t stop = 0;        ///< this worker wants all to stop
  std::int16_t traced = 0;      ///< what is pushed is of a traced step
  std::int64_t version = 0;     ///< of the weights the gradients were computed with; for begin: updates so far
  std::int64_t parameters = 0;  ///< for begin: how many the model has
  double samples = 0;           ///< that the gradients are the mean of
  optim::Step step{};           ///< of the gradients
};

struct Answer {
  std::int64_t version = 0;  ///< updates of the server so far
  std::int32_t stop = 0;     ///< some worker wants all to stop
  std::int32_t spoilt = -1;  ///< the parameter whose gradient was not finite, so that nothing was applied; -1: none
};

inline constexpr int question_tag = 0, answer_tag = 1;

}  // namespace isobar::parallel
