// The world behind MpiComm: one lock around MPI, the communicators, the node of every rank. A thread that waits for a
// message polls for it itself, under the lock (docs/decisions/0010-who-calls-mpi.md). Under a launcher that supervises
// the run the world is elastic: ranks may die without ending it, and MPI_Finalize is never called.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <string>
#include <vector>

#include "isobar/comm_mpi/failure.hpp"
#include "isobar/comm_mpi/group_numbers.hpp"
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
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The node of every rank, counted from 0 in the order of the ranks.
  const std::vector<int>& nodes() const { return nodes_; }
  const std::vector<std::string>& hosts() const { return hosts_; }
  const std::string& thread_level() const { return thread_level_; }
  MPI_Comm messages() const { return messages_; }
  const TagLayout& tags() const { return *tags_; }
  GroupNumbers& numbers() { return *numbers_; }
  bool elastic() const { return lifeline_ != nullptr; }
  /// Null in a world that ends when a rank dies.
  control::Lifeline* lifeline() { return lifeline_.get(); }
  Service& service() { return *service_; }

  /// The lock to hold around MPI calls; throws if MPI may no longer be called.
  std::unique_lock<std::timed_mutex> use_mpi();
  /// The check for destructors: false if MPI may no longer be called.
  bool may_use_mpi() const { return !frozen_; }
  std::timed_mutex& mutex() { return mutex_; }
  /// The world has failed: from now on no thread of this rank calls MPI, so that MPI touches no memory of messages.
  void freeze();

  /// The MPI communicator of some ranks of the world, for the library's own operations; all these ranks must call.
  MPI_Comm communicator(const std::vector<int>& members);

  /// See World::leave.
  void leave(int exit_code);

 private:
  void find_nodes();
  void let_messages_go_on();
  /// Finalizes MPI; ends the process if that takes more than some seconds.
  void finalize(int exit_code);

  int rank_ = 0, size_ = 1;
  std::string thread_level_;
  std::vector<int> nodes_;
  std::vector<std::string> hosts_;
  MPI_Comm messages_ = MPI_COMM_NULL;
  std::timed_mutex mutex_;
  std::atomic<bool> frozen_ = false;
  std::map<std::vector<int>, MPI_Comm> communicators_;
  std::unique_ptr<TagLayout> tags_;
  std::unique_ptr<GroupNumbers> numbers_;
  Failure failure_;
  std::unique_ptr<control::Lifeline> lifeline_;
  std::unique_ptr<Witness> witness_;  // null where a launcher watches
  std::unique_ptr<Service> service_;
};

}  // namespace isobar::comm_mpi
