// The reducer of a single rank, which has nothing to sum, and functions that all reducers share.
#include "isobar/comm/exchange_clock.hpp"
#include "isobar/comm/reducers.hpp"

namespace isobar::comm {
namespace {

class LoneReducer final : public Reducer {
 public:
  LoneReducer(Comm& comm, std::size_t floats) : comm_(comm), floats_(floats) {}

  std::span<float> memory() override { return floats_.all(); }
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
  AlignedFloats floats_;
  Sum started_ = 0;
  ExchangeClock clock_;
};

}  // namespace

void expect_within(Range range, std::size_t floats) {
  expects(range.begin <= floats && range.count <= floats - range.begin, "a range within the reducer's memory");
}

AlignedFloats::AlignedFloats(std::size_t floats) : count_(floats) {
  std::size_t space = floats * sizeof(float) + 64;
  bytes_ = std::make_unique<std::byte[]>(space);
  void* first = bytes_.get();
  first_ = static_cast<float*>(std::align(64, floats * sizeof(float), first, space));
}

std::unique_ptr<Reducer> lone_reducer(Comm& comm, std::size_t floats) {
  return std::make_unique<LoneReducer>(comm, floats);
}

}  // namespace isobar::comm
