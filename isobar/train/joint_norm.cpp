#include "isobar/train/joint_norm.hpp"

#include "isobar/base/clock.hpp"
#include "isobar/comm/reducer.hpp"
#include "isobar/comm/walk.hpp"

namespace isobar::train {

JointNorm::JointNorm(comm::Comm& world, StepTrace& trace) : group_(duplicate(world)) {
  const std::shared_ptr<comm::Algorithm> algorithm =
      make(comm::all_reduces(), "recursive_doubling", "all-reduce");  // few numbers: latency matters most
  const std::uint32_t name = trace.main().intern("statistics of a batch");
  sum_ = [this, &trace, name, algorithm, group = group_->group()](std::span<float> numbers) {
    const double begin = now_seconds();
    comm::run(*group_, algorithm->schedule(group, numbers.size()), numbers);
    trace.main().record({Category::communication, name, step_, begin, now_seconds() - begin, 0,
                         static_cast<double>(numbers.size_bytes())});
  };
}

const std::function<void(std::span<float>)>* JointNorm::sum_in(std::int64_t step) {
  step_ = step;
  return &sum_;
}

}  // namespace isobar::train
