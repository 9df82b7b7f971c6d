#include "isobar/record/watch.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/record/run_follower.hpp"
#include "isobar/record/run_status.hpp"

namespace isobar::record {
namespace {

// Pauses for restarts, evaluations and checkpoints: up to this length they are not reported.
constexpr double shortest_silence = 10;

std::string utc(double unix_seconds) {
  const auto time = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

class Watch final : public train::Sink {
 public:
  Watch(const std::filesystem::path& folder, Screen screen, const WatchSetting& setting)
      : folder_(folder), setting_(setting), line_(std::move(screen)), follower_(folder) {}

  bool run() {
    while (true) {
      const auto change = follower_.poll(*this);
      if (change == RunFollower::Change::cut || change == RunFollower::Change::anew) {
        begin_again(change == RunFollower::Change::anew);
        continue;
      }
      if (ended_) return true;
      if (setting_.once) {
        tell_state();
        return false;
      }
      show(change == RunFollower::Change::more);
      if (!setting_.wait()) return false;
    }
  }

  void start(const train::Start& start) override {
    if (sessions_ == 0) status_ = RunStatus(follower_.facts().peaks.flops_per_second);
    const std::vector<std::string> lines = status_.start(start);
    // When a run is replayed from its first line, only new lines are shown.
    if (told_sessions_.emplace(sessions_, start.first_step).second)
      print(sessions_ == 0 ? lines : std::vector{lines.back()});
    std::erase_if(told_epochs_, [&](const auto& told) { return sessions_ > 0 && told.first > start.first_step; });
    ++sessions_;
  }
  void step(const train::StepDone& step) override { status_.step(step); }
  void bad_step(const train::BadStep& bad) override {
    const std::string line = status_.bad_step(bad);
    if (!setting_.once && told_bad_.insert(bad.step).second) print({line});
  }
  void epoch(const train::EpochDone& epoch) override {
    test_seconds_ = epoch.test_seconds;
    const std::string line = status_.epoch(epoch);
    if (setting_.once) last_epoch_ = line;
    else if (std::string& told = told_epochs_[epoch.step]; told != line) print({told = line});
  }
  void checkpoint(const train::CheckpointDone& done) override { status_.checkpoint(done); }
  void end(const train::End& end) override {
    if (!last_epoch_.empty()) print({last_epoch_});
    print(status_.end(end));
    ended_ = true;
  }

 private:
  void begin_again(bool another) {
    sessions_ = 0;
    if (!another) return;
    if (!told_sessions_.empty()) print({fmt::format("the run in {} was started again", folder_.string())});
    told_sessions_.clear();
    told_bad_.clear();
    told_epochs_.clear();
  }

  void show(bool news) {
    if (sessions_ == 0) {
      if (!waits_) print({fmt::format("waiting for the first step of a run in {}", folder_.string())});
      waits_ = true;
      return;
    }
    const auto last = follower_.last_written();
    const double quiet = last ? setting_.unix_time() - *last : 0;
    const bool silent = !news && quiet > patience();
    if (silent && !silent_) print({status_.line(line_.columns())});
    if (silent && line_.live()) line_.show(silence(quiet, *last));
    else if (silent && !silent_) print({silence(quiet, *last)});
    else if (!silent && line_.due() && status_.last().step > 0 && (news || line_.live()))
      line_.show(status_.line(line_.columns()));
    silent_ = silent;
  }

  void tell_state() {
    if (sessions_ == 0) {
      const RunRecord run = read_run_facts(folder_);  // whose error explains what a run folder is
      print({fmt::format("the run in {} has written no step yet", run.folder.string())});
      return;
    }
    if (!last_epoch_.empty()) print({last_epoch_});
    if (status_.last().step > 0) print({status_.line()});
    if (const auto last = follower_.last_written())
      print({silence(std::max(0.0, setting_.unix_time() - *last), *last)});
  }

  // A step or an evaluation may take somewhat longer than the last one did.
  double patience() const { return std::max(shortest_silence, 3 * (status_.last().seconds + test_seconds_)); }

  std::string silence(double seconds, double since) const {
    if (seconds <= patience()) return fmt::format("last written at {}", utc(since));
    return fmt::format("nothing was written for {}, since {}: the run was killed or hangs",
                       human_seconds(std::floor(seconds)), utc(since));
  }

  void print(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) line_.print(line);
  }

  std::filesystem::path folder_;
  const WatchSetting& setting_;
  StatusLine line_;
  RunFollower follower_;
  RunStatus status_;
  std::string last_epoch_;
  int sessions_ = 0;                                      // replayed since the first line
  std::set<std::pair<int, std::int64_t>> told_sessions_;  // by number and first step
  std::set<std::int64_t> told_bad_;                       // steps
  std::map<std::int64_t, std::string> told_epochs_;       // by step
  double test_seconds_ = 0;                               // of the last evaluation
  bool ended_ = false, waits_ = false, silent_ = false;
};

}  // namespace

bool watch(const std::filesystem::path& folder, Screen screen, const WatchSetting& setting) {
  return Watch(folder, std::move(screen), setting).run();
}

}  // namespace isobar::record
