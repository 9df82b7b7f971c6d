// The reducer of a single rank, which has nothing to sum, and functions that all reducers share.
#include "isobar/comm/exchange_clock.hpp"
#include "isobar/comm/reducers.hpp"

namespace isobar::comm {
namespace {

class LoneReducer final : public Reducer {
 public:
  LoneReducer(Comm& comm, GradientMemory& memory) : comm_(comm), memory_(memory.mine()) {}

  std::span<float> memory() override { return memory_; }
  Sum start(SumRequest sum) override {
    expect_within(sum.range, memory().size());
    clock_.begin(0);
    clock_.end(0);
    if (sum.ended) sum.ended();
    return started_++;
  }
  void wait(Sum sum) override {
    expects(sum >= 0 && sum < started_, "a sum that was started");
    comm_.check();
  }
  std::string describe() const override { return "one rank"; }
  ExchangeCost cost() const override { return clock_.cost(comm_.now()); }

 private:
  Comm& comm_;
  std::span<float> memory_;
  Sum started_ = 0;
  ExchangeClock clock_;
};

}  // namespace

void expect_within(Range range, std::size_t floats) {
  expects(range.begin <= floats && range.count <= floats - range.begin, "a range within the reducer's memory");
}

std::unique_ptr<Reducer> lone_reducer(Comm& comm, GradientMemory& memory) {
  return std::make_unique<LoneReducer>(comm, memory);
}

}  // namespace isobar::comm
