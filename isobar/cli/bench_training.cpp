// What `isobar bench training` measures: level 2, a whole training run from files with evaluation, epoch by epoch,
// compared with PyTorch on the same files: samples per second, and time until the result on the test set is good
// enough.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/bench/contestant.hpp"
#include "isobar/bench/training_task.hpp"
#include "isobar/cli/bench_level.hpp"
#include "isobar/run/models.hpp"
#include "isobar/train/trainer.hpp"

namespace isobar::cli {
namespace {

// Between two epochs it answers the contest and waits for the next question.
class EpochGate final : public train::Sink {
 public:
  void start(const train::Start&) override {
    say("ready isobar");
    await();
  }
  void epoch(const train::EpochDone& done) override {
    const auto found = done.test.find("accuracy");
    const double value = found != done.test.end() ? found->second : done.test.at("loss");
    say(fmt::format("{:.9f} {:.9f} {:.9f}", done.train_seconds, done.test_seconds, value));
    await();
  }

  std::atomic<bool> stop = false;

 private:
  static void say(const std::string& text) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  }
  void await() {
    char line[64];
    if (!std::fgets(line, sizeof line, stdin)) stop = true;
    else if (std::string_view(line) != "epoch\n") fail("bench: '{}' is not 'epoch'", line);
  }
};

// The training of one contestant.
struct Course {
  std::string name;
  std::vector<double> epochs{};      // seconds of training and evaluation, of every epoch
  std::vector<double> training{};    // training alone
  double until_good = 0, value = 0;  // seconds until the test set was good enough, 0: never; last value
};

std::vector<std::unique_ptr<bench::Contestant>> start(const bench::TrainingTask& task, const BenchOptions& options,
                                                      const std::filesystem::path& folder) {
  const std::string recipe = (folder / "recipe.toml").string(), threads = std::to_string(options.threads);
  std::ofstream(recipe) << bench::recipe_text(task, folder);
  std::vector<std::unique_ptr<bench::Contestant>> all;
  all.push_back(std::make_unique<bench::Contestant>(
      std::vector<std::string>{"/proc/self/exe", "bench", "--serve", "--training", recipe, "--threads", threads}));
  if (options.peers.empty()) return all;
  for (const char* workers : {"0", "1"})
    all.push_back(std::make_unique<bench::Contestant>(std::vector<std::string>{
        "/usr/bin/python3", options.peers + "/torch_training.py", "--model", task.model, "--train",
        (folder / "train.h5").string(), "--test", (folder / "test.h5").string(), "--batch", std::to_string(task.batch),
        "--rate", fmt::format("{}", task.rate), "--metric", task.metric, "--workers", workers, "--threads", threads}));
  return all;
}

std::vector<Course> compete(const bench::TrainingTask& task, const BenchOptions& options,
                            const std::filesystem::path& folder) {
  const auto contestants = start(task, options, folder);
  std::vector<Course> courses;
  for (const auto& c : contestants) courses.push_back({c->name()});
  const int epochs = std::min(task.epochs, options.rounds_or(task.epochs));
  for (int epoch = 0; epoch < epochs; ++epoch) {
    note(fmt::format("{}: epoch {} of at most {}", task.name, epoch + 1, epochs));
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const std::size_t who = (i + static_cast<std::size_t>(epoch)) % contestants.size();
      const std::vector<double> told = contestants[who]->numbers("epoch");
      if (told.size() != 3) fail("'{}' answered {} numbers to 'epoch', not 3", courses[who].name, told.size());
      Course& course = courses[who];
      course.training.push_back(told[0]);
      course.epochs.push_back(told[0] + told[1]);
      course.value = told[2];
      if (course.until_good > 0 || !task.good_enough(told[2])) continue;
      for (const double seconds : course.epochs) course.until_good += seconds;
    }
  }
  return courses;
}

void measure(const bench::TrainingTask& task, const BenchOptions& options, RecordBook& book) {
  const ScratchFolder scratch(options.scratch);
  note(task.name + ": making files");
  bench::make_files(task, scratch.path());
  const std::vector<Course> courses = compete(task, options, scratch.path());
  note("");
  bench::Record epoch{"training", task.model,
                      fmt::format("{} samples from HDF5 files, batch {}", task.train, task.batch)};
  epoch.samples = static_cast<double>(task.train);
  std::vector<bench::Runner> runners;
  bench::Rounds seconds;
  for (const Course& course : courses) {
    runners.push_back({course.name, {}});
    seconds.push_back(course.training);
    epoch.facts.emplace_back(fmt::format("{} at the end, {}", task.metric, course.name), course.value);
  }
  bench::fill_record(epoch, runners, seconds);
  book.add(std::move(epoch));
  bench::Record good{"training", task.model, fmt::format("until {} {}", task.metric, task.wanted)};
  for (const Course& course : courses)
    if (course.until_good > 0)
      good.entries.push_back({course.name, {course.until_good, course.until_good, course.until_good}, 1});
  if (courses[0].until_good <= 0) {
    fmt::print("training: {}: {} stayed short of {}: {}\n", task.model, task.metric, task.wanted, courses[0].value);
    return;
  }
  if (const bench::Entry* peer = good.best_peer()) {
    const double ratio = peer->seconds.median / good.ours().seconds.median;
    good.speedup = {ratio, ratio, ratio};
  }
  book.add(std::move(good));
}

}  // namespace

void serve_training(const std::string& recipe) {
  train::Job job = run::read_job(read_recipe(recipe), "bench");
  job.tuned = false;  // the peers are not tuned either
  EpochGate gate;
  std::vector<train::Sink*> all{&gate};
  train::Trainer(std::move(job), all).run(&gate.stop);
}

extern const BenchLevel training_level{"training",
                                       "training from files with evaluation: samples/s, time to a given accuracy",
                                       [](const BenchOptions& options, RecordBook& book) {
                                         for (const bench::TrainingTask& task : bench::training_tasks())
                                           measure(task, options, book);
                                       }};

}  // namespace isobar::cli
