// The group and the reducer that strategies see when all ranks go in lockstep.
#include "isobar/comm/reducers.hpp"
#include "isobar/sim/lockstep.hpp"
#include "isobar/sim/phantom.hpp"

namespace isobar::sim {
namespace {

class LockstepReducer final : public comm::Reducer {
 public:
  LockstepReducer(Lockstep& ranks, std::size_t floats, const comm::ReducerOptions& options)
      : ranks_(ranks), options_(options), memory_(floats) {}

  std::span<float> memory() override { return memory_.all(); }

  Sum start(comm::SumRequest sum) override {
    comm::expect_within(sum.range, memory_.all().size());
    const codec::Codec& codec = sum.exact ? *codec::plain() : *options_.codec;
    sums_.push_back({ranks_.now(), ranks_.begin_sum(options_.algorithm, sum.range.count, codec, cost_), false});
    if (sum.ended) sum.ended();
    return std::ssize(sums_) - 1;
  }

  void wait(Sum number) override {
    UnderWay& sum = sums_.at(number);
    if (std::exchange(sum.waited_for, true)) return;
    const double end = ranks_.end_of_sum(sum.number);
    cost_.waited_seconds += ranks_.wait_until(end);
    // Sums under way at the same time count once.
    cost_.busy_seconds += std::max(0.0, end - std::max(sum.begun, busy_until_));
    busy_until_ = std::max(busy_until_, end);
  }
  std::string describe() const override { return ranks_.costs().describe(options_.algorithm); }
  comm::ExchangeCost cost() const override { return cost_; }

 private:
  Lockstep& ranks_;
  comm::ReducerOptions options_;
  PhantomFloats memory_;
  comm::ExchangeCost cost_;
  struct UnderWay {
    double begun;
    int number;
    bool waited_for;
  };
  std::vector<UnderWay> sums_;
  double busy_until_ = 0;
};

class LockstepView final : public comm::WorldView {
 public:
  explicit LockstepView(Lockstep& ranks) : ranks_(ranks) {}
  bool abort(const std::string& message) override { throw comm::Aborted(message); }
  void check(std::uint32_t) const override {}
  void note(std::string) override {}
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double) override {
    return std::vector<std::optional<std::string>>(ranks.size());
  }
  double now() const override { return ranks_.now(); }

 private:
  Lockstep& ranks_;
};

class LockstepComm final : public comm::Comm {
 public:
  explicit LockstepComm(Lockstep& ranks)
      : Comm({.size = ranks.placement().ranks, .nodes = ranks.placement().nodes_of_ranks()},
             std::make_shared<LockstepView>(ranks)),
        ranks_(ranks) {}

  std::unique_ptr<Comm> among(std::span<const int>) override { refuse("groups of some ranks"); }
  std::shared_ptr<comm::SharedMemory> share(std::size_t) override { refuse("shared memory"); }
  std::unique_ptr<comm::Reducer> own_reducer(std::size_t floats, const comm::ReducerOptions& options) override {
    if (options.codec->carriage() != codec::Carriage::added) refuse("codecs whose numbers are gathered");
    return std::make_unique<LockstepReducer>(ranks_, floats, options);
  }

 private:
  comm::Ticket begin_send(int, int, std::span<const std::byte>) override { refuse("single messages"); }
  comm::Ticket begin_receive(int, int, std::span<std::byte>) override { refuse("single messages"); }
  [[noreturn]] static void refuse(const char* what) {
    fail_usage("a simulation by rounds knows sums over all ranks, and not {}; simulate by flows", what);
  }

  Lockstep& ranks_;
};

}  // namespace

std::unique_ptr<comm::Comm> Lockstep::comm() { return std::make_unique<LockstepComm>(*this); }

}  // namespace isobar::sim
