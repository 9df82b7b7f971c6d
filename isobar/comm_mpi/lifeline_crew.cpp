#include "isobar/comm_mpi/lifeline_crew.hpp"

#include <algorithm>

#include "isobar/comm/collectives.hpp"

namespace isobar::comm_mpi {
namespace {

constexpr double until_messages_arrive = 30;

class LifelineCrew final : public comm::Crew {
 public:
  LifelineCrew(MpiWorld& world, MpiComm& all) : world_(world), lifeline_(*world.lifeline()), all_(all) {}

  std::unique_ptr<comm::Comm> muster(const std::function<int(int available)>& usable) override {
    for (;;) {
      const control::Order order = lifeline_.await_order(lifeline_.epoch());
      if (order.kind == control::Order::Kind::over) return over();
      if (order.kind == control::Order::Kind::relaunch) ends("all ranks are restarted");
      // Messages of an abandoned group may stay under way forever: no later group may have the same tags.
      if (order.epoch >= world_.tags().epochs())
        give_up(fmt::format("more than {} ranks have died: messages tell no more epochs apart", order.epoch - 1));
      const int available = std::ssize(order.members), used = usable(available);
      expects(used >= 1 && used <= available, "ranks that can work together, of those available");
      const auto those = std::span(order.members).first(used);
      if (std::ranges::find(those, world_.rank()) == those.end()) continue;
      if (auto group = met(all_.in_epoch(order.epoch, those))) return group;
    }
  }

  [[noreturn]] void give_up(const std::string& why) override {
    lifeline_.give_up(why);
    ends(why);
  }
  bool elastic() const override { return true; }

 private:
  // If a library keeps its queues in shared memory, a rank killed while writing to another's queue blocks it for good,
  // and ranks would wait there forever: so a new group tries a barrier first. Null if the members have changed again.
  std::unique_ptr<comm::Comm> met(std::unique_ptr<comm::Comm> group) {
    if (group->epoch() == comm::first_epoch) return group;  // no rank has died yet
    try {
      if (!comm::barrier_within(*group, until_messages_arrive))
        give_up("messages no longer arrive since a rank was killed while it sent one");
    } catch (const comm::MembersChanged&) {
      return nullptr;
    }
    return group;
  }

  std::unique_ptr<comm::Comm> over() {
    if (lifeline_.failure()) world_.service().check(lifeline_.epoch());
    if (lifeline_.lost()) ends("the launcher that supervises the run is gone");
    return nullptr;
  }

  [[noreturn]] void ends(const std::string& why) {
    world_.service().end_of_launch(why);
    throw comm::Aborted(why);
  }

  MpiWorld& world_;
  control::Lifeline& lifeline_;
  MpiComm& all_;
};

}  // namespace

std::unique_ptr<comm::Crew> lifeline_crew(MpiWorld& world, MpiComm& all) {
  return std::make_unique<LifelineCrew>(world, all);
}

}  // namespace isobar::comm_mpi
