// The inbox of a simulation by flows: messages say themselves that they have come, so one among thousands costs as
// little as one alone.
#include <set>
#include <typeinfo>

#include "isobar/comm/inbox.hpp"
#include "isobar/sim/flow_transfer.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;

class FlowInbox final : public comm::Inbox {
 public:
  FlowInbox(FlowWorld& world, int rank) : world_(world), rank_(rank) {}
  ~FlowInbox() override {
    for (const auto& [flow, number] : under_way_) bell().watched.erase(flow);
  }

  void add(int number, comm::Ticket& ticket) override {
    comm::Transfer* const transfer = ticket.transfer();
    if (!transfer) {
      come_.insert({0, number});
      return;
    }
    expects(typeid(*transfer) == typeid(FlowTransfer), "messages of this simulation");
    auto& message = static_cast<FlowTransfer&>(*transfer);
    if (message.seen_at() < FlowTransfer::never) {
      come_.insert({message.seen_at(), number});
      return;
    }
    under_way_.emplace(message.flow(), number);
    bell().watched[message.flow()] = [this, &message, number] { arrived_.push_back({&message, number}); };
  }

  int next() override {
    expects(!seen_.empty() || !come_.empty() || !under_way_.empty(), "something to wait for");
    const double begun = s4u::Engine::get_clock();
    for (;;) {
      const double now = s4u::Engine::get_clock();
      look(now);
      if (!seen_.empty()) break;
      bell().wait(come_.empty() ? -1 : come_.begin()->first - now);
    }
    world_.cores[rank_].wait(s4u::Engine::get_clock() - begun);
    const auto behind = seen_.upper_bound(last_);
    const auto next = behind == seen_.end() ? seen_.begin() : behind;
    last_ = *next;
    seen_.erase(next);
    return last_;
  }

 private:
  struct Arrived {
    FlowTransfer* message;
    int number;
  };

  Bell& bell() { return world_.bells[rank_]; }

  // Those that are seen by now move from `come_` to `seen_`.
  void look(double now) {
    for (const Arrived& each : std::exchange(arrived_, {})) {
      under_way_.erase(each.message->flow());
      come_.insert({each.message->seen_at(), each.number});
    }
    while (!come_.empty() && come_.begin()->first <= now + FlowTransfer::simultaneous) {
      seen_.insert(come_.begin()->second);
      come_.erase(come_.begin());
    }
  }

  FlowWorld& world_;
  int rank_;
  std::unordered_map<const void*, int> under_way_;  // numbers, by message
  std::vector<Arrived> arrived_;                    // of these, since somebody looked
  std::set<std::pair<double, int>> come_;           // and when they are seen
  std::set<int> seen_;
  int last_ = -1;
};

}  // namespace

std::unique_ptr<comm::Inbox> flow_inbox(FlowWorld& world, int rank) { return std::make_unique<FlowInbox>(world, rank); }

}  // namespace isobar::sim
