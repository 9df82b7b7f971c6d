// Sums by the message library itself. Its sum blocks, so wait() calls it, also for all earlier sums, in their order; no
// stall can be detected meanwhile.
#include <deque>

#include "isobar/comm/exchange_clock.hpp"
#include "isobar/comm/reducers.hpp"

namespace isobar::comm {
namespace {

class NativeReducer final : public Reducer {
 public:
  NativeReducer(Comm& comm, GradientMemory& memory) : comm_(comm), memory_(memory.mine()) {
    if (comm.elastic())
      fail_usage("algorithm 'native': it cannot continue without a rank that has died; 'auto' chooses one that can");
    sum_ = comm.native_sum();
    if (!sum_) fail_usage("algorithm 'native': these ranks have no message library with its own sum");
  }

  std::span<float> memory() override { return memory_; }
  Sum start(SumRequest sum) override {
    expect_within(sum.range, memory().size());
    pending_.push_back(std::move(sum));
    clock_.begin(comm_.now());
    return finished_ + static_cast<Sum>(pending_.size()) - 1;
  }
  void wait(Sum sum) override {
    expects(sum >= 0 && sum < finished_ + static_cast<Sum>(pending_.size()), "a sum that was started");
    if (sum < finished_) return;
    const double began = comm_.now();
    const Traffic before = comm_.traffic();
    for (; sum >= finished_; ++finished_) {
      const SumRequest& next = pending_.front();
      comm_.note(fmt::format("waits for sum '{}'", next.what));
      sum_(memory().subspan(next.range.begin, next.range.count));
      if (next.ended) next.ended();
      pending_.pop_front();
      clock_.end(comm_.now());
    }
    const Traffic after = comm_.traffic();
    clock_.moved(after.messages - before.messages, after.bytes - before.bytes);
    clock_.waited(comm_.now() - began);
  }
  std::string describe() const override {
    return fmt::format("the message library's own sum of {} ranks", comm_.size());
  }
  ExchangeCost cost() const override { return clock_.cost(comm_.now()); }

 private:
  Comm& comm_;
  std::span<float> memory_;
  std::function<void(std::span<float>)> sum_;
  std::deque<SumRequest> pending_;  // from number finished_ on
  Sum finished_ = 0;
  ExchangeClock clock_;
};

}  // namespace

std::unique_ptr<Reducer> native_reducer(Comm& comm, GradientMemory& memory) {
  return std::make_unique<NativeReducer>(comm, memory);
}

}  // namespace isobar::comm
