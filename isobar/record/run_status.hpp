// RunStatus: the state of a run as text: a description, the status line, a line for each epoch, and the end. Used by
// the run itself and by programs that follow it through its files.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "isobar/record/rate.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

class RunStatus {
 public:
  /// `peak_flops` is the peak of all ranks together, per second; 0: unknown.
  explicit RunStatus(double peak_flops = 0) : peak_flops_(peak_flops) {}

  /// Starts or resumes a run; returns its description, line by line.
  std::vector<std::string> start(const train::Start& start);
  void step(const train::StepDone& step);
  /// A step was dropped; returns the line that reports it.
  std::string bad_step(const train::BadStep& bad);
  void checkpoint(const train::CheckpointDone& done) { checkpoint_ = done; }
  /// Ends an epoch; returns the line that reports it.
  std::string epoch(const train::EpochDone& epoch);
  /// How the run ended and where its files are, line by line.
  std::vector<std::string> end(const train::End& end) const;

  /// The status line, at most `columns` wide: epoch, step, loss, last metric, speed, share of the peak, waiting for
  /// input and for other ranks, time left. To fit, words are shortened and the least important parts are left out.
  std::string line(std::size_t columns = std::numeric_limits<std::size_t>::max()) const;
  /// The last step; its number is 0 before the first.
  const train::StepDone& last() const { return last_; }

 private:
  struct Part;
  enum class Form { wide, barless, compact, tight };
  std::vector<Part> parts(Form form) const;
  std::string speed(double samples_per_second) const;
  std::string whose() const;
  std::string share(double flops_per_second) const;
  std::string metric() const;
  std::int64_t all_steps() const { return start_.epochs * start_.steps_per_epoch; }
  double done() const;
  double seconds_left() const;

  double peak_flops_;
  train::Start start_;
  std::vector<std::string> asked_;  // metrics of the recipe, by name
  train::StepDone last_;
  train::BadSteps bad_;
  Rate rate_;
  std::int64_t samples_ = 0;  // of the current epoch
  double loss_sum_ = 0;       // over those
  double test_seconds_ = 0;
  std::map<std::string, double> judged_;  // of the last epoch that was evaluated, by the set that choices look at
  std::string judged_set_ = "test";
  train::CheckpointDone checkpoint_{};
};

}  // namespace isobar::record
