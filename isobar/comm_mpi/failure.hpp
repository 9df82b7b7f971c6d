// The failure that ends the world, as this rank knows it: the first one reported is kept.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "isobar/comm/comm.hpp"

namespace isobar::comm_mpi {

class Failure {
 public:
  /// Keeps the message, which names the rank, if it is the first; returns whether it is. `told`: the user has seen it.
  bool set(int by, const std::string& message, bool told = false) {
    const std::lock_guard lock(mutex_);
    if (set_) return false;
    by_ = by;
    told_ = told;
    message_ = message;
    set_ = true;
    return true;
  }
  bool is_set() const { return set_; }
  /// Throws Aborted once there is a failure; cheap while there is none.
  void check() const {
    if (set_) throw comm::Aborted(message());
  }
  std::string message() const {
    const std::lock_guard lock(mutex_);
    return message_;
  }
  /// Whether the witness has already told the user, because the rank itself cannot.
  bool told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  /// The rank that failed; -1 if none has.
  int by() const {
    const std::lock_guard lock(mutex_);
    return by_;
  }

 private:
  std::atomic<bool> set_ = false;
  mutable std::mutex mutex_;
  int by_ = -1;
  bool told_ = false;
  std::string message_;
};

}  // namespace isobar::comm_mpi
