// The group and the reducer that strategies see when all ranks go in lockstep.
#include "isobar/comm/reducers.hpp"
#include "isobar/sim/lockstep.hpp"
#include "isobar/sim/phantom.hpp"

namespace isobar::sim {
namespace {

class LockstepReducer final : public comm::Reducer {
 public:
  LockstepReducer(Lockstep& ranks, std::span<float> memory, const comm::ReducerOptions& options)
      : ranks_(ranks), options_(options), memory_(memory) {}

  std::span<float> memory() override { return memory_; }

  Sum start(comm::SumRequest sum) override {
    comm::expect_within(sum.range, memory_.size());
    const codec::Codec& codec = sum.exact ? *codec::plain() : *options_.codec;
    const bool gathers = codec.carriage() == codec::Carriage::gathered;
    sums_.push_back(gathers
                        ? start_gathering(sum, codec)
                        : UnderWay{ranks_.now(), ranks_.begin_sum(options_.algorithm, sum.range.count, codec, cost_)});
    if (sum.ended) sum.ended();
    return std::ssize(sums_) - 1;
  }

  void wait(Sum number) override {
    UnderWay& sum = sums_.at(number);
    if (std::exchange(sum.waited_for, true)) return;
    const double end = ranks_.end_of_sum(sum.number);
    cost_.waited_seconds += ranks_.wait_until(end) + sum.decode_seconds;
    ranks_.spend(sum.decode_seconds);
    // Sums under way at the same time count once.
    cost_.busy_seconds += std::max(0.0, end - std::max(sum.begun, busy_until_));
    busy_until_ = std::max(busy_until_, end);
  }
  std::string describe() const override {
    const codec::Codec& codec = *options_.codec;
    if (codec.carriage() == codec::Carriage::gathered)
      return fmt::format("{} gathered from {} ranks", codec.describe(), ranks_.placement().ranks);
    return ranks_.costs().describe(options_.algorithm);
  }
  comm::ExchangeCost cost() const override { return cost_; }

 private:
  struct UnderWay {
    double begun;
    int number;
    double decode_seconds = 0;
    bool waited_for = false;
  };

  // A codec always sends as much as it may: nobody knows the numbers.
  UnderWay start_gathering(const comm::SumRequest& sum, const codec::Codec& codec) {
    const std::size_t bytes = comm::gathered_bytes(sum, codec);
    const GatheredCost own = ranks_.gathered(sum.range.count, bytes);
    ranks_.spend(own.encoding);
    const double begun = ranks_.now();
    return {begun, ranks_.begin_gathering(bytes, cost_), own.decoding};
  }

  Lockstep& ranks_;
  comm::ReducerOptions options_;
  std::span<float> memory_;
  comm::ExchangeCost cost_;
  std::vector<UnderWay> sums_;
  double busy_until_ = 0;
};

class LockstepView final : public comm::WorldView {
 public:
  explicit LockstepView(Lockstep& ranks) : ranks_(ranks) {}
  bool abort(const std::string& message) override { throw comm::Aborted(message); }
  void check(std::uint32_t) const override {}
  void note(std::string) override {}
  bool watches_waits() const override { return false; }
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
      : Comm(group_of(ranks.placement()), std::make_shared<LockstepView>(ranks)), ranks_(ranks) {}

  std::unique_ptr<Comm> among(std::span<const int> some) override {
    if (std::ssize(some) != size() || !std::ranges::is_sorted(some)) refuse("groups of some ranks");
    return std::make_unique<LockstepComm>(ranks_);
  }
  std::shared_ptr<comm::SharedMemory> share(std::size_t) override { refuse("shared memory"); }
  std::unique_ptr<comm::GradientMemory> own_memory(std::size_t floats) override {
    if (ranks_.others()) return ranks_.others()->memory(floats);
    const auto phantom = std::make_shared<PhantomFloats>(floats);
    return std::make_unique<comm::GradientMemory>(phantom->all(), phantom);
  }
  std::unique_ptr<comm::Reducer> own_reducer(comm::GradientMemory& memory,
                                             const comm::ReducerOptions& options) override {
    return std::make_unique<LockstepReducer>(ranks_, memory.mine(), options);
  }

 private:
  static comm::Group group_of(const RankNodes& placement) {
    comm::Group group{.size = placement.ranks, .nodes = placement.nodes_of_ranks()};
    for (int rank = 0; rank < placement.ranks; ++rank) group.members.push_back(placement.first + rank);
    return group;
  }
  comm::Ticket begin_send(int to, int, std::span<const std::byte> bytes) override {
    if (!ranks_.others()) refuse("single messages");
    return ranks_.others()->send(to, bytes.size());
  }
  comm::Ticket begin_receive(int, int, std::span<std::byte>, comm::Length) override { refuse("single messages"); }
  [[noreturn]] static void refuse(const char* what) {
    fail_usage("a simulation by rounds knows sums over all ranks, and not {}; simulate by flows", what);
  }

  Lockstep& ranks_;
};

}  // namespace

std::unique_ptr<comm::Comm> Lockstep::comm() { return std::make_unique<LockstepComm>(*this); }

}  // namespace isobar::sim
