#include "isobar/comm_mpi/world.hpp"

#include <algorithm>

#include "isobar/comm_mpi/lifeline_crew.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"
#include "isobar/comm_mpi/mpi_comm.hpp"
#include "isobar/comm_mpi/mpi_world.hpp"

namespace isobar::comm_mpi {
namespace {

class Joined final : public World {
 public:
  explicit Joined(std::unique_ptr<control::Lifeline> lifeline)
      : world_(std::make_shared<MpiWorld>(std::move(lifeline))) {}

  comm::Comm& comm() override { return *comm_; }
  std::string version() const override { return world_->service().carrier(); }
  std::string thread_level() const override { return world_->thread_level(); }
  int node_count() const override { return std::ranges::max(world_->all().nodes) + 1; }
  std::vector<std::string> hosts() const override { return world_->hosts(); }
  comm::Crew& crew() override { return *crew_; }
  control::Lifeline* lifeline() override { return world_->lifeline(); }
  void leave(int exit_code) override { world_->leave(exit_code); }

 private:
  std::shared_ptr<MpiWorld> world_;
  std::unique_ptr<MpiComm> comm_ = world_group(world_);
  std::unique_ptr<comm::Crew> crew_ = world_->elastic() ? lifeline_crew(*world_, *comm_) : comm::fixed_crew(*comm_);
};

}  // namespace

std::string_view library() { return ISOBAR_MPI_LIBRARY; }

std::unique_ptr<World> join() {
  const Launch launch = launched();
  if (launch.launcher.empty()) return alone_world();
  // Before MPI starts: if a rank dies meanwhile, the others hang inside MPI, and only the launcher can end that.
  auto lifeline = control::supervised() ? std::make_unique<control::Lifeline>(launch.rank) : nullptr;
  auto world = std::make_unique<Joined>(std::move(lifeline));
  if (world->comm().size() != launch.ranks)
    fail("{} started {} ranks, but {} sees {}; start it with the launcher of {}, or srun --mpi=pmi2",
         launch.launcher == "srun" ? "srun" : "the launcher", launch.ranks, library(), world->comm().size(), library());
  return world;
}

}  // namespace isobar::comm_mpi
