// LifelineService: the service of a rank under a launcher that supervises the run (isobar run): everything goes over
// the lifeline, which needs no MPI and so no rank that lives. A thread lets MPI go on with messages that are under way,
// because nobody else calls it while this rank computes, or waits for the end.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "isobar/comm_mpi/service.hpp"
#include "isobar/control/lifeline.hpp"

namespace isobar::comm_mpi {

class LifelineService final : public Service {
 public:
  /// `progress` lets MPI go on; called by a thread of the service every few milliseconds.
  LifelineService(control::Lifeline& lifeline, std::function<void()> progress);
  ~LifelineService() override;

  void check(std::uint32_t epoch) const override;
  bool abort(const std::string& message) override;
  void note(std::string what) override;
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double seconds) override;
  bool has_left(int rank) override;
  void end_of_launch(const std::string& why) override;
  [[noreturn]] int end(int exit_code) override;

 private:
  void run();

  control::Lifeline& lifeline_;
  const std::function<void()> progress_;
  std::atomic<bool> launch_ends_ = false;
  mutable std::mutex mutex_;  // guards what follows
  std::string why_launch_ends_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::map<int, double> asked_whether_left_;
  std::thread thread_;
};

}  // namespace isobar::comm_mpi
