// The world of a process that no launcher started: it has one rank and does not use MPI.
#include "isobar/comm/local_comm.hpp"
#include "isobar/comm_mpi/world.hpp"
#include "isobar/control/address.hpp"

namespace isobar::comm_mpi {
namespace {

class Alone final : public World {
 public:
  comm::Comm& comm() override { return *comm_; }
  std::string version() const override { return "none"; }
  std::string thread_level() const override { return "none"; }
  int node_count() const override { return 1; }
  std::vector<std::string> hosts() const override { return {control::host_name()}; }
  comm::Crew& crew() override { return *crew_; }
  void leave(int) override {}

 private:
  std::unique_ptr<comm::Comm> comm_ = comm::alone();
  std::unique_ptr<comm::Crew> crew_ = comm::fixed_crew(*comm_);
};

}  // namespace

std::unique_ptr<World> alone_world() { return std::make_unique<Alone>(); }

}  // namespace isobar::comm_mpi
