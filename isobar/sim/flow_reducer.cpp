// Sums by flows: each sum is walked by an actor of its own on every rank, so that several are under way at once and go
// on while the rank computes, as the thread of a BackgroundReducer has it.
#include <deque>
#include <exception>

#include "isobar/codec/parcel.hpp"
#include "isobar/comm/exchange_clock.hpp"
#include "isobar/comm/reducers.hpp"
#include "isobar/comm/schedule_shelf.hpp"
#include "isobar/sim/flow_walk.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;

class FlowReducer final : public comm::Reducer {
 public:
  // Messages of several reducers never meet; all ranks make them in the same order.
  FlowReducer(FlowWorld& world, const std::vector<int>& members, int rank, std::uint64_t group, std::span<float> memory,
              const comm::ReducerOptions& options)
      : world_(world),
        walk_(world, members, rank, fmt::format("s{}.{}", group, world.reducers[{group, rank}]++)),
        options_(options),
        memory_(memory) {
    for (const int member : members) nodes_.push_back(world.placement.node_of(member));
  }
  ~FlowReducer() override {
    if (std::uncaught_exceptions() > 0) return;  // all actors are about to be ended
    for (const UnderWay& sum : under_way_)       // who walks uses this
      if (sum.done) sum.done->acquire();
  }

  std::span<float> memory() override { return memory_; }

  Sum start(comm::SumRequest sum) override {
    comm::expect_within(sum.range, memory_.size());
    const codec::Codec& codec = sum.exact ? *codec::plain() : *options_.codec;
    const Sum number = std::ssize(under_way_);
    under_way_.push_back({.done = s4u::Semaphore::create(0)});
    clock_.begin(s4u::Engine::get_clock());
    if (codec.carriage() == codec::Carriage::gathered) start_gathering(number, std::move(sum), codec);
    else if (nodes_.size() == 1) finish(number, sum.ended);
    else start_adding(number, std::move(sum), codec);
    return number;
  }

  void wait(Sum number) override {
    UnderWay& sum = under_way_.at(number);
    if (!sum.done) return;
    const double begun = s4u::Engine::get_clock();
    sum.done->acquire();
    sum.done = nullptr;
    walk_.core().wait(s4u::Engine::get_clock() - begun);
    decode(sum);
    clock_.waited(s4u::Engine::get_clock() - begun);
  }

  std::string describe() const override {
    const codec::Codec& codec = *options_.codec;
    if (codec.carriage() == codec::Carriage::gathered)
      return fmt::format("{} gathered from {} ranks", codec.describe(), nodes_.size());
    return world_.costs.describe(options_.algorithm);
  }
  comm::ExchangeCost cost() const override {
    comm::ExchangeCost cost = clock_.cost(s4u::Engine::get_clock());
    cost.traffic = walk_.traffic();
    return cost;
  }

 private:
  struct UnderWay {
    s4u::SemaphorePtr done{};  // null: it was waited for
    // Where numbers are gathered:
    std::vector<std::span<float>> tensors{};
    std::vector<FlowPacket> gathered{};
    double decode_seconds = 0;
  };

  void finish(Sum number, const std::function<void()>& ended) {
    clock_.end(s4u::Engine::get_clock());
    if (ended) ended();
    under_way_[number].done->release();
  }

  void start_adding(Sum number, comm::SumRequest sum, const codec::Codec& codec) {
    const comm::Schedule& schedule = schedule_of(sum.range.count);
    const comm::Numbers numbers(memory_.subspan(sum.range.begin, sum.range.count), codec);
    owe(walk_.bytes_sent(schedule, numbers));
    s4u::Actor::create("sum", s4u::this_actor::get_host(),
                       [this, number, &schedule, numbers, ended = std::move(sum.ended)] {
                         walk_.walk(schedule, number, numbers);
                         finish(number, ended);
                       });
  }

  // Numbers that are not real always take as many bytes as they may.
  void start_gathering(Sum number, comm::SumRequest sum, const codec::Codec& codec) {
    const std::size_t bound = comm::gathered_bytes(sum, codec);
    UnderWay& all = under_way_[number];
    FlowPacket mine{bound};
    if (world_.options.real_numbers) {
      for (const comm::Range& part : comm::parts_of(sum))
        all.tensors.push_back(memory_.subspan(part.begin, part.count));
      mine.contents.resize(bound);
      mine.bytes = codec::pack(codec, all.tensors, mine.contents);
      mine.contents.resize(mine.bytes);
    }
    const GatheredCost cost = world_.costs.gathered(sum.range.count, bound, world_.options.without);
    if (cost.encoding > 0) s4u::this_actor::sleep_for(cost.encoding);
    all.decode_seconds = cost.decoding;
    owe(1.0 * bound * (nodes_.size() - 1));
    s4u::Actor::create("sum", s4u::this_actor::get_host(),
                       [this, number, mine = std::move(mine), ended = std::move(sum.ended)] {
                         under_way_[number].gathered = walk_.gather(mine, number);
                         finish(number, ended);
                       });
  }

  void decode(UnderWay& sum) {
    if (sum.decode_seconds > 0) s4u::this_actor::sleep_for(sum.decode_seconds);
    if (sum.tensors.empty()) return;
    for (std::size_t rank = 0; rank < sum.gathered.size(); ++rank)
      if (rank == 0) codec::unpack(*options_.codec, sum.gathered[rank].contents, sum.tensors);
      else codec::unpack_and_add(*options_.codec, sum.gathered[rank].contents, sum.tensors);
    sum.tensors.clear();
    sum.gathered.clear();
  }

  const comm::Schedule& schedule_of(std::size_t count) {
    const Spec& algorithm = world_.costs.chosen(options_.algorithm, count);
    auto& shelf = shelves_[algorithm.str()];
    if (!shelf) {
      const int size = std::ssize(nodes_);
      shelf = std::make_unique<comm::ScheduleShelf>(algorithm, comm::Group{walk_.rank(), size, nodes_});
    }
    return shelf->of(count);
  }

  void owe(double bytes) {
    if (!world_.options.without.bandwidth) walk_.core().owe(bytes * world_.platform.network.core_seconds_per_byte);
  }

  FlowWorld& world_;
  FlowWalk walk_;
  std::vector<int> nodes_;
  comm::ReducerOptions options_;
  std::span<float> memory_;
  std::deque<UnderWay> under_way_;  // by sum
  std::map<std::string, std::unique_ptr<comm::ScheduleShelf>> shelves_;
  comm::ExchangeClock clock_;
};

}  // namespace

std::unique_ptr<comm::Reducer> flow_reducer(FlowWorld& world, const std::vector<int>& members, int rank,
                                            std::uint64_t group, std::span<float> memory,
                                            const comm::ReducerOptions& options) {
  return std::make_unique<FlowReducer>(world, members, rank, group, memory, options);
}

}  // namespace isobar::sim
