#include "isobar/comm/local_crew.hpp"

#include <algorithm>

#include "isobar/comm/local_comm.hpp"
#include "isobar/comm/local_world.hpp"

namespace isobar::comm {
namespace {

class LocalCrew final : public Crew {
 public:
  LocalCrew(std::shared_ptr<LocalWorld> world, int rank) : world_(std::move(world)), rank_(rank) {}

  std::unique_ptr<Comm> muster(const std::function<int(int available)>& usable) override {
    for (bool stands_by = false;; stands_by = true) {
      const LocalRoster::Order order = world_->muster(rank_, stands_by);
      if (order.members.empty()) return nullptr;
      const int available = static_cast<int>(order.members.size()), used = usable(available);
      expects(used >= 1 && used <= available, "ranks that can work together, of those available");
      const auto those = std::span(order.members).first(static_cast<std::size_t>(used));
      if (std::ranges::find(those, rank_) == those.end()) continue;
      return local_group(world_, order.epoch, those, rank_);
    }
  }
  [[noreturn]] void give_up(const std::string& why) override {
    world_->give_up(rank_, why);
    throw Aborted(why);
  }
  bool elastic() const override { return true; }

 private:
  std::shared_ptr<LocalWorld> world_;
  const int rank_;
};

}  // namespace

CrewEnd run_crew(int ranks, int spares, const std::function<void(Crew&, int)>& work, std::vector<PlannedDeath> deaths,
                 int per_node) {
  expects(ranks >= 1 && spares >= 0 && per_node >= 1, "at least one rank, and one per node");
  const int size = ranks + spares;
  const auto world = std::make_shared<LocalWorld>(size, per_node, LocalRoster(size, ranks, std::move(deaths)));
  try {
    run_threads(world, [&](Comm& comm) {
      LocalCrew crew(world, comm.rank());
      work(crew, comm.rank());
    });
  } catch (const Aborted&) {
    if (!world->gave_up()) throw;
  }
  return {world->died(), world->gave_up()};
}

}  // namespace isobar::comm
