// LifelineService: the service of a rank under a launcher that supervises the run (isobar run): everything goes over
// the lifeline, which needs neither MPI nor other living ranks. A thread lets MPI make progress with messages under
// way, because nothing else calls MPI while this rank computes or waits for the end.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "isobar/comm_mpi/service.hpp"
#include "isobar/control/lifeline.hpp"

namespace isobar::comm_mpi {

class LifelineService final : public Service {
 public:
  /// `progress` lets MPI make progress; a thread of the service calls it every few milliseconds.
  LifelineService(control::Lifeline& lifeline, std::function<void()> progress);

  void check(std::uint32_t epoch) const override;
  bool abort(const std::string& message) override;
  void note(std::string what) override;
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double seconds) override;
  bool has_left(int rank) override;
  bool has_died(int rank) const override { return lifeline_.has_died(rank); }
  void set_fate(comm::Fate fate) override;
  void end_of_launch(const std::string& why) override;
  [[noreturn]] int end(int exit_code) override;

 private:
  control::Lifeline& lifeline_;
  std::atomic<bool> launch_ends_ = false;
  mutable std::mutex mutex_;  // guards what follows
  std::string why_launch_ends_;
  std::map<int, double> asked_whether_left_;
  std::jthread thread_;  // joined first of all members
};

}  // namespace isobar::comm_mpi
