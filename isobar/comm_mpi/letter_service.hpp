// LetterService: the service over MPI itself. On every rank a thread looks for letters, with which ranks report
// failures, ask each other what they are doing, and agree to end. So a rank that is busy computing still answers.
// Rank 0 decides which of several failures was the first; if it does not answer, the rank that failed notifies
// all others.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "isobar/comm_mpi/failure.hpp"
#include "isobar/comm_mpi/letters.hpp"
#include "isobar/comm_mpi/service.hpp"
#include "isobar/comm_mpi/witness.hpp"

namespace isobar::comm_mpi {

class LetterService final : public Service {
 public:
  /// `communicator` is for letters only.
  LetterService(MPI_Comm communicator, MpiGate& mpi, Failure& failure, Witness& witness);

  void check(std::uint32_t) const override { failure_.check(); }
  bool abort(const std::string& message) override;
  void note(std::string what) override;
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double seconds) override;
  bool has_left(int rank) override;
  void end_of_launch(const std::string& why) override { abort(why); }
  int end(int exit_code) override;

 private:
  /// What other ranks have told about themselves.
  struct Heard {
    std::map<std::int32_t, std::map<int, std::string>> answers{};  // to every open question, by rank
    std::set<int> left{};                                          // ranks that have ended without a failure
    std::set<int> leaving{};                                       // ranks that wait for the end after a failure
    std::set<std::int32_t> rounds{};                               // of the barrier at the end
    bool go = false;                                               // the rank that failed lets all leave
    std::optional<int> exit_code{};                                // with which all ranks leave, if all can
  };

  /// Returns when all ranks have called it, or when a failure is known.
  void end_together();
  /// Returns when the rank that failed has called it too and has waited for the others: with that rank's exit code if
  /// all ranks have called, or empty if some have not within seconds or one has died.
  std::optional<int> end_after_failure(int exit_code);
  void listen_to_witness();
  void serve();
  void handle(const Letter& letter);
  void post_to_others(const Letter& letter);
  void report(int failed_rank, const std::string& message, bool told);
  void decide(int by, const std::string& text, bool told);
  bool wait_until(double seconds, const std::function<bool()>& reached);

  Letters letters_;
  Failure& failure_;
  Witness& witness_;
  std::mutex mutex_;  // guards what follows
  std::string note_;
  bool leaving_ = false;
  Heard heard_;
  std::int32_t questions_ = 0;
  std::map<int, double> asked_whether_left_;
  std::jthread thread_;  // joined first of all members
};

}  // namespace isobar::comm_mpi
