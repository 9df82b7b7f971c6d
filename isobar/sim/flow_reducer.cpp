// Sums by flows: each sum is walked by an actor of its own on every rank, so that several are under way at once and go
// on while the rank computes, as the thread of a BackgroundReducer has it. Numbers are sent and added in time only.
#include <exception>

#include "isobar/comm/exchange_clock.hpp"
#include "isobar/comm/flight.hpp"
#include "isobar/comm/reducers.hpp"
#include "isobar/comm/schedule_shelf.hpp"
#include "isobar/comm/walk.hpp"
#include "isobar/sim/flow_world.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;
using comm::Move;

class FlowReducer final : public comm::Reducer {
 public:
  FlowReducer(FlowWorld& world, const std::vector<int>& members, int rank, int group, std::size_t floats,
              const comm::ReducerOptions& options)
      : world_(world), members_(members), rank_(rank), options_(options), memory_(world.phantom(floats)) {
    // Messages of several reducers never meet; all ranks make them in the same order.
    name_ = fmt::format("s{}.{}", group, world.reducers[{group, rank}]++);
    for (const int member : members_) nodes_.push_back(world.placement.node_of(member));
  }
  ~FlowReducer() override {
    if (std::uncaught_exceptions() > 0) return;       // all actors are about to be ended
    for (const s4u::SemaphorePtr& done : under_way_)  // who walks uses this
      if (done) done->acquire();
  }

  std::span<float> memory() override { return memory_; }

  Sum start(comm::SumRequest sum) override {
    comm::expect_within(sum.range, memory_.size());
    const codec::Codec& asked = sum.exact ? *codec::plain() : *options_.codec;
    const Sum number = std::ssize(under_way_);
    under_way_.push_back(s4u::Semaphore::create(0));
    clock_.begin(s4u::Engine::get_clock());
    const bool gathers = asked.carriage() == codec::Carriage::gathered;
    const comm::Schedule& schedule = gathers ? gathering_of(sum, asked) : schedule_of(sum.range.count);
    const codec::Codec& codec = gathers ? *codec::plain() : asked;  // what has been encoded travels as it is
    if (!world_.options.without.bandwidth)
      core().owe(bytes_sent(schedule, codec) * world_.platform.network.core_seconds_per_byte);
    s4u::Actor::create("sum", s4u::this_actor::get_host(),
                       [this, number, &schedule, &codec, done = under_way_.back(), ended = std::move(sum.ended)] {
                         walk(schedule, number, codec);
                         clock_.end(s4u::Engine::get_clock());
                         if (ended) ended();
                         done->release();
                       });
    return number;
  }

  void wait(Sum sum) override {
    s4u::SemaphorePtr& done = under_way_.at(sum);
    if (!done) return;
    const double begun = s4u::Engine::get_clock();
    done->acquire();
    done = nullptr;
    const double idle = s4u::Engine::get_clock() - begun;
    clock_.waited(idle);
    core().wait(idle);
  }

  std::string describe() const override { return world_.costs.describe(options_.algorithm); }
  comm::ExchangeCost cost() const override { return clock_.cost(s4u::Engine::get_clock()); }

 private:
  const comm::Schedule& schedule_of(std::size_t count) {
    static const comm::Schedule alone;
    if (members_.size() == 1) return alone;
    const Spec& algorithm = world_.costs.chosen(options_.algorithm, count);
    auto& shelf = shelves_[algorithm.str()];
    if (!shelf) {
      const int size = std::ssize(members_);
      shelf = std::make_unique<comm::ScheduleShelf>(algorithm, comm::Group{rank_, size, nodes_});
    }
    return shelf->of(count);
  }

  // As comm::gathered_reducer() has it: the words that a rank has encoded go round the ring.
  const comm::Schedule& gathering_of(const comm::SumRequest& sum, const codec::Codec& codec) {
    const std::size_t words = comm::words_of(sum.parts.empty() ? std::span(&sum.range, 1) : sum.parts, codec);
    auto& shelf = shelves_["gathering"];
    if (!shelf)
      shelf = std::make_unique<comm::ScheduleShelf>(make(comm::all_gathers(), "ring", "all-gather"),
                                                    comm::Group{rank_, static_cast<int>(members_.size()), nodes_});
    return shelf->of(words * members_.size());
  }

  SharedCore& core() { return world_.cores[member(rank_)]; }
  double bytes_sent(const comm::Schedule& schedule, const codec::Codec& codec) const {
    std::size_t numbers = 0;
    for (const comm::Round& round : schedule)
      for (const Move& move : round)
        if (move.is_message_of(rank_)) numbers += move.range.count;
    return codec.bound(numbers);
  }

  double latency_to(int peer) {
    const auto [found, is_new] = latencies_.try_emplace(peer, 0.0);
    if (is_new) found->second = world_.latency(member(rank_), member(peer));
    return found->second;
  }

  void walk(const comm::Schedule& schedule, Sum number, const codec::Codec& codec) {
    const Without& without = world_.options.without;
    static char something = 0;  // messages need contents
    for (const comm::Round& round : schedule) {
      double latency = 0, overhead = 0, added = 0;
      for (const Move& move : round) {
        if (move.peer == rank_) continue;
        if (move.kind == Move::Kind::add) added += move.range.count;
        if (move.kind != Move::Kind::send) continue;
        latency = std::max(latency, latency_to(move.peer));
        overhead += comm::Walk::messages(move.range.count) * world_.platform.network.message_overhead;
      }
      if (!without.latency && latency + overhead > 0) s4u::this_actor::sleep_for(latency + overhead);
      std::vector<s4u::CommPtr> flows;
      std::vector<char*> arrived(round.size());
      for (std::size_t i = 0; i < round.size(); ++i) {
        const Move& move = round[i];
        if (move.peer == rank_) continue;
        if (move.kind == Move::Kind::send) {
          const std::size_t bytes = codec.bound(move.range.count);
          clock_.moved(1, bytes);
          if (world_.options.sent) tell_sent(number, move, codec);
          flows.push_back(mailbox(number, rank_, move.peer)->put_async(&something, without.bandwidth ? 0 : bytes));
        } else {
          flows.push_back(mailbox(number, move.peer, rank_)->get_async<char>(&arrived[i]));
        }
      }
      for (const s4u::CommPtr& flow : flows) flow->wait();
      const double rate = world_.platform.node.sum_bytes_per_second;
      if (added > 0 && rate > 0 && !without.bandwidth) s4u::this_actor::sleep_for(3 * sizeof(float) * added / rate);
    }
  }

  void tell_sent(Sum number, const Move& move, const codec::Codec& codec) const {
    for (std::size_t begun = 0; begun < move.range.count;) {
      const std::size_t count = comm::Walk::next_message(move.range, begun).count;
      world_.options.sent({number, member(rank_), member(move.peer), codec.bound(count)});
      begun += count;
    }
  }

  int member(int rank) const { return members_[rank]; }
  s4u::Mailbox* mailbox(Sum number, int from, int to) const {
    return s4u::Mailbox::by_name(
        fmt::format("{}.{}:{}>{}", name_, number % comm::sums_under_way, member(from), member(to)));
  }

  FlowWorld& world_;
  std::vector<int> members_, nodes_;
  int rank_;
  std::string name_;
  comm::ReducerOptions options_;
  std::span<float> memory_;
  std::vector<s4u::SemaphorePtr> under_way_;  // by sum; null: it was waited for
  std::map<std::string, std::unique_ptr<comm::ScheduleShelf>> shelves_;
  std::map<int, double> latencies_;
  comm::ExchangeClock clock_;
};

}  // namespace

std::unique_ptr<comm::Reducer> flow_reducer(FlowWorld& world, const std::vector<int>& members, int rank, int group,
                                            std::size_t floats, const comm::ReducerOptions& options) {
  return std::make_unique<FlowReducer>(world, members, rank, group, floats, options);
}

}  // namespace isobar::sim
