// The world behind MpiComm: one lock around MPI, the communicators, the node of every rank. A thread that waits for a
// message polls for it itself, under the lock (docs/decisions/0010-who-calls-mpi.md). Under a launcher that supervises
// the run the world is elastic: ranks may die without ending it, and MPI_Finalize is never called.
#pragma once

#include <map>
#include <memory>
#include <mpi.h>
#include <string>
#include <vector>

#include "isobar/comm/group.hpp"
#include "isobar/comm_mpi/failure.hpp"
#include "isobar/comm_mpi/group_numbers.hpp"
#include "isobar/comm_mpi/mpi_gate.hpp"
#include "isobar/comm_mpi/service.hpp"
#include "isobar/comm_mpi/tag_layout.hpp"
#include "isobar/comm_mpi/witness.hpp"
#include "isobar/control/lifeline.hpp"

namespace isobar::comm_mpi {

class MpiWorld {
 public:
  /// Calls MPI_Init_thread. All ranks must call, once. `lifeline` leads to the launcher that supervises the run, and
  /// may be null.
  explicit MpiWorld(std::unique_ptr<control::Lifeline> lifeline);
  /// Stops the service thread; does not finalize MPI.
  ~MpiWorld();

  int rank() const { return all_.rank; }
  const comm::Group& all() const { return all_; }
  const std::vector<std::string>& hosts() const { return hosts_; }
  const std::string& thread_level() const { return thread_level_; }
  /// The communicator for the messages of a group.
  MPI_Comm messages(int group) const { return messages_[tags_.communicator(group)]; }
  const TagLayout& tags() const { return tags_; }
  GroupNumbers& numbers() { return numbers_; }
  bool elastic() const { return lifeline_ != nullptr; }
  /// Null in a world that ends when a rank dies.
  control::Lifeline* lifeline() { return lifeline_.get(); }
  Service& service() { return *service_; }

  /// The lock to hold around MPI calls; throws if MPI may no longer be called.
  MpiGate::Lock use_mpi();
  /// The gate itself, for destructors.
  MpiGate& gate() { return gate_; }

  /// The MPI communicator of some ranks of the world, for the library's own operations; all these ranks must call.
  MPI_Comm communicator(const std::vector<int>& members);

  /// See World::leave.
  void leave(int exit_code);

 private:
  /// Finalizes MPI; ends the process if that takes more than some seconds.
  void finalize(int exit_code);

  const std::unique_ptr<control::Lifeline> lifeline_;
  const std::unique_ptr<Witness> witness_;  // null where a launcher watches
  const std::string thread_level_;          // its initializer starts MPI, which all that follow may use
  const comm::Group all_;
  const std::vector<std::string> hosts_;
  const TagLayout tags_;
  const std::vector<MPI_Comm> messages_;
  GroupNumbers numbers_;
  MpiGate gate_;
  std::map<std::vector<int>, MPI_Comm> communicators_;
  Failure failure_;
  std::unique_ptr<Service> service_;
};

}  // namespace isobar::comm_mpi
