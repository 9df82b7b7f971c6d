// MpiGate: the one lock around MPI, which the threads of a rank call in turn, and whether MPI may be called at all.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

namespace isobar::comm_mpi {

class MpiGate {
 public:
  using Lock = std::unique_lock<std::timed_mutex>;

  /// The lock to hold around MPI calls, whether or not the gate is open.
  Lock enter() { return Lock(mutex_); }
  /// The same if the gate is open and no other thread has the lock, or keeps it longer than `patience`; else not
  /// locked.
  Lock try_enter() { return if_open(Lock(mutex_, std::try_to_lock)); }
  Lock try_enter(std::chrono::seconds patience) { return if_open(Lock(mutex_, patience)); }
  bool is_open() const { return open_; }
  /// From now on no thread of this rank calls MPI, so that MPI touches no memory of messages.
  void close() {
    const Lock lock = enter();
    open_ = false;
  }

 private:
  Lock if_open(Lock lock) const { return lock && open_ ? std::move(lock) : Lock(); }

  std::timed_mutex mutex_;
  std::atomic<bool> open_ = true;
};

}  // namespace isobar::comm_mpi
