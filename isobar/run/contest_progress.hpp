// Shows how far a contest is: the run under way, as its own files tell, and the time that is left of all runs.
#pragma once

#include <filesystem>
#include <string>

#include "isobar/record/rate.hpp"
#include "isobar/record/run_follower.hpp"
#include "isobar/record/status_line.hpp"

namespace isobar::run {

/// Where the runs of a contest stand.
struct ContestPlace {
  std::size_t run = 1, runs = 1;  ///< this is the so-manieth of all
  std::size_t left = 0;           ///< that follow and have to be run
  std::string name{};             ///< "stale(bound=3), seed 2"
};

class ContestProgress final : public train::Sink {
 public:
  explicit ContestProgress(record::Screen screen) : line_(std::move(screen)) {}

  void begin(const ContestPlace& place, const std::filesystem::path& folder);
  /// Reads what is new of the run and shows it, if it is time.
  void look();
  /// The run has ended so; prints a line that stays.
  void close(const std::string& how);

  void start(const train::Start& start) override;
  void step(const train::StepDone& step) override;

 private:
  double part_done() const;
  std::string status() const;

  record::StatusLine line_;
  ContestPlace place_;
  std::optional<record::RunFollower> follower_;
  train::Start start_;
  train::StepDone last_;
  record::Rate rate_;
  double begin_ = 0, looked_ = 0;
  double ended_seconds_ = 0;  // of runs that ended since this program began
  std::size_t ended_ = 0;
};

}  // namespace isobar::run
