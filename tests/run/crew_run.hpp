// Small runs in a crew of threads, some of which die, with a record that is written late, as if on a slow disk.
#pragma once

#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include "isobar/comm/local_crew.hpp"
#include "isobar/run/sessions.hpp"

#include "tests/train/recorder.hpp"

namespace isobar::train {

/// Writes one line for every step, epoch and end to a file, three at a time: lines are lost when a rank dies or leaves
/// its group.
class LateLines final : public Sink {
 public:
  void start(const Start& start) override {
    file_ = start.folder / "lines.txt";
    const std::vector<std::string> before = lines_in(file_);
    std::ofstream out(file_, std::ios::trunc);
    for (const std::string& line : before) {
      std::istringstream words(line);
      std::string kind;
      std::int64_t number = 0;
      words >> kind >> number;
      const bool step = kind == "step", epoch = kind == "epoch";
      if (!start.goes_on() || (step && number > start.first_step) || (epoch && number > start.first_epoch)) break;
      if (!step && !epoch) break;
      out << line << "\n";
      (step ? reached_.step : reached_.epoch) = number;
    }
  }
  Reached reached(const Start&) const override { return reached_; }
  void step(const StepDone& done) override { put(fmt::format("step {} loss {:a}", done.step, done.loss)); }
  void epoch(const EpochDone& done) override {
    std::string line = fmt::format("epoch {} loss {:a}", done.epoch, done.train_loss);
    for (const auto& [name, value] : done.test) line += fmt::format(" {} {:a}", name, value);
    put(line);
  }
  void end(const End& end) override {
    put(fmt::format("end {} {}", end.steps, end.reason == End::Reason::finished ? "finished" : "interrupted"));
    flush();
  }

  static std::vector<std::string> lines_in(const std::filesystem::path& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  void put(const std::string& line) {
    late_.push_back(line);
    if (late_.size() == 3) flush();
  }
  void flush() {
    std::ofstream out(file_, std::ios::app);
    for (const std::string& line : late_) out << line << "\n";
    late_.clear();
  }

  std::filesystem::path file_;
  Reached reached_{};
  std::vector<std::string> late_;
};

/// The result of a run in a crew.
struct CrewRun {
  comm::CrewEnd end;
  std::map<int, std::vector<float>> weights{};  ///< of those that finished it, by rank in the world, in plain
                                                ///< layout
  std::vector<std::string> lines{};             ///< of the record
  std::vector<MembersChange> changes{};         ///< as the last rank 0 knew them
  std::vector<std::int64_t> batches{};          ///< of every session of some rank
  std::vector<End::Reason> reasons{};

  int steps() const {
    int count = 0;
    for (const std::string& line : lines) count += line.starts_with("step ");
    return count;
  }
};

struct CrewSetting {
  int ranks = 3, spares = 0, per_node = 8;
  std::vector<const char*> settings{};
  std::int64_t stop_at = -1;  ///< rank 0 of a group requests a stop after this step
  /// Makes another job than small_job() with the settings.
  std::function<Job(const std::filesystem::path& folder)> job{};
};

inline CrewRun run_in_crew(const std::filesystem::path& folder, const CrewSetting& setting,
                           std::vector<comm::PlannedDeath> deaths = {}) {
  CrewRun run;
  std::mutex mutex;
  const auto make_job = [&] {
    Job job = setting.job ? setting.job(folder) : small_job(folder, setting.settings);
    job.launch = "test";
    return job;
  };
  const auto work = [&](comm::Crew& crew, int rank) {
    omp_set_num_threads(1);
    const Job first = make_job();
    Carried carried;
    const auto session = [&](comm::Comm& group) {
      LateLines lines;
      Recorder recorder(setting.stop_at);
      Trainer trainer(make_job(), group, {&lines, &recorder}, &carried);
      {
        const std::lock_guard lock(mutex);
        run.batches.push_back(trainer.batching().batch);
      }
      const End::Reason reason = trainer.run(&recorder.stop);
      const std::lock_guard lock(mutex);
      run.weights[rank] = plain_weights(trainer.store());
      run.reasons.push_back(reason);
      if (group.rank() == 0) run.changes = carried.changes;
      return reason;
    };
    run::run_sessions(
        crew, [&](int available) { return most_ranks(first, available); }, session);
  };
  run.end = comm::run_crew(setting.ranks, setting.spares, work, std::move(deaths), setting.per_node);
  run.lines = LateLines::lines_in(folder / "lines.txt");
  return run;
}

}  // namespace isobar::train
