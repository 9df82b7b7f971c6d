// LetterService: the service over MPI itself. On every rank a thread polls a separate communicator, on which ranks
// report failures, ask each other what they are doing, and agree to end. So a rank that is busy computing still
// answers. Rank 0 decides which of several failures was the first; if it does not answer, the rank that failed notifies
// all others.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "isobar/comm_mpi/failure.hpp"
#include "isobar/comm_mpi/service.hpp"
#include "isobar/comm_mpi/witness.hpp"

namespace isobar::comm_mpi {

class LetterService final : public Service {
 public:
  /// `mpi` is held around MPI calls; none is made once `frozen` is set.
  LetterService(MPI_Comm control, std::timed_mutex& mpi, const std::atomic<bool>& frozen, Failure& failure,
                Witness& witness);
  ~LetterService() override;

  void check(std::uint32_t) const override { failure_.check(); }
  bool abort(const std::string& message) override;
  void note(std::string what) override;
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double seconds) override;
  bool has_left(int rank) override;
  void end_of_launch(const std::string& why) override { abort(why); }
  int end(int exit_code) override;

 private:
  enum class Word : std::int32_t { propose, verdict, ask, answer, leaving, go, round };
  struct Letter {
    Word word{};
    std::int32_t number = 0;  // a question, a round, the rank that failed, or its exit code
    std::int32_t flag = 0;    // the rank has left, the user has been told, or all ranks have ended
    std::string text{};
  };
  struct Question {
    std::map<int, std::string> answers{};
  };
  struct Sending;

  /// Returns when all ranks have called it, or when a failure is known.
  void end_together();
  /// Returns when the rank that failed has called it too and has waited for the others: with that rank's exit code if
  /// all ranks have called, or empty if some have not within seconds or one has died.
  std::optional<int> end_after_failure(int exit_code);
  void stop();
  void run();
  void listen_to_witness();
  void serve();
  void handle(int from, const Letter& letter);
  void post(int to, const Letter& letter);
  bool all_sent();
  void post_to_others(const Letter& letter);
  void report(int failed_rank, const std::string& message, bool told);
  void decide(int by, const std::string& text, bool told);
  bool wait_until(double seconds, const std::function<bool()>& reached);

  const MPI_Comm control_;
  std::timed_mutex& mpi_;
  const std::atomic<bool>& frozen_;
  Failure& failure_;
  Witness& witness_;
  int rank_ = 0, size_ = 1;
  std::list<Sending> outbox_;  // guarded by mpi_

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::atomic<bool> witness_knows_ = false;
  bool stopping_ = false, leaving_ = false, go_ = false;
  std::optional<int> exit_code_;  // with which all ranks leave, as sent by the rank that failed
  std::string note_;
  std::int32_t questions_ = 0;
  std::map<std::int32_t, Question> asked_;
  std::set<int> left_, leaving_ranks_;
  std::map<int, double> asked_whether_left_;
  std::set<std::int32_t> rounds_;
  std::thread thread_;
};

}  // namespace isobar::comm_mpi
