// A thread for what a service must do again and again while its rank computes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace isobar::comm_mpi {

/// A thread that calls `act` now and then every 5 ms, until the thread object is destroyed.
template <class F>
std::jthread periodic(F act) {
  return std::jthread([act = std::move(act)](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    for (std::unique_lock lock(mutex); !stop.stop_requested();) {
      act();
      never.wait_for(lock, stop, std::chrono::milliseconds(5), [] { return false; });
    }
  });
}

}  // namespace isobar::comm_mpi
