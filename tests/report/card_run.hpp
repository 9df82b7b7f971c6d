// A small run folder for tests of the run card and of comparisons: every fact a row depends on can be changed. 20 steps
// of 0.1 s in two epochs, an evaluation of 0.5 s after each (mae 0.3, then 0.1), a checkpoint of 0.25 s.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "isobar/report/run_card.hpp"

namespace isobar::report {

struct CardRun {
  std::string model = "cosmoflow(size=128)";
  std::string train = "hdf5(path=universe/train)", test = "hdf5(path=universe/test)";  ///< no test set when empty
  std::string metrics = R"(["mae"])", extra = "";                                      ///< more lines of [report]
  std::string validation = "";  ///< a validation set, on which every result is larger by 0.25; empty: there is none
  std::string optimizer = "sgd(lr=0.01)", strategy = "sync";
  std::string metric = "mae";
  double first_value = 0.3, last_value = 0.1;
  std::string reason = "finished";  ///< empty: killed
  bool timed = true, evaluated = true, described = true, history = true, staged = true, profiled = true;
  int ranks = 1, teams = 1, batch = 4;
  double step_seconds = 0.1;
  int resumed_with = 0;  ///< ranks of a second session after step 10; 0: there is none
  std::string processor = "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", inputs = "128x128x128x4";
  std::int64_t parameters = 8'907'556, train_samples = 524'288;
};

inline std::filesystem::path written(const std::filesystem::path& folder, const CardRun& run = {}) {
  std::filesystem::create_directories(folder / "profile");
  std::ofstream(folder / "recipe.toml") << fmt::format(
      "model = \"{}\"\noptimizer = \"{}\"\nstrategy = \"{}\"\nfolder = \"{}\"\n[data]\ntrain = \"{}\"\n{}"
      "staging = \"none\"\nbatch = {}\n[train]\nepochs = 2\nmetrics = {}\n[report]\npage = true\n{}",
      run.model, run.optimizer, run.strategy, folder.string(), run.train,
      (run.test.empty() ? "" : fmt::format("test = \"{}\"\n", run.test)) +
          (run.validation.empty() ? "" : fmt::format("validation = \"{}\"\n", run.validation)),
      run.batch, run.metrics, run.extra);
  std::ofstream metrics(folder / "metrics.jsonl"), timing(folder / "timing.jsonl");
  const auto start = [&](int step, int ranks) {
    if (!run.timed) return;
    timing << fmt::format(R"({{"kind":"start","step":{},"threads":2,"ranks":{},"nodes":1,"global_batch":{},)", step,
                          ranks, run.batch)
           << fmt::format(R"("parameters":{},"flops_per_sample":1e9{}}})", run.parameters,
                          run.staged ? R"(,"staging_seconds":2.5)" : "")
           << "\n";
  };
  start(0, run.ranks);
  const std::string of_epoch[] = {fmt::format(R"({{"loss":0.5,"{}":{}}})", run.metric, run.first_value),
                                  fmt::format(R"({{"loss":0.25,"{}":{}}})", run.metric, run.last_value)};
  for (int step = 1; step <= 20; ++step) {
    if (step == 11 && run.resumed_with > 0) start(10, run.resumed_with);
    metrics << fmt::format(R"({{"kind":"step","step":{},"epoch":{},"loss":{},"learning_rate":0.01}})", step,
                           (step + 9) / 10, 1.0 / step)
            << "\n";
    if (run.timed)
      timing << fmt::format(R"({{"kind":"step","step":{},"samples":{},"seconds":{},"wait_seconds":0.01,)", step,
                            run.batch, run.step_seconds)
             << R"("exchange_seconds":0.02,"bytes_sent":1000})"
             << "\n";
    if (step % 10 != 0) continue;
    const int epoch = step / 10;
    metrics << fmt::format(R"({{"kind":"epoch","step":{},"epoch":{},"train_loss":0.75{},"test":{}}})", step, epoch,
                           run.validation.empty() ? ""
                                                  : fmt::format(R"(,"validation":{{"loss":0.75,"{}":{}}})", run.metric,
                                                                0.25 + (epoch == 1 ? run.first_value : run.last_value)),
                           run.evaluated ? of_epoch[epoch - 1] : "{}")
            << "\n";
    if (!run.timed) continue;
    timing << fmt::format(R"({{"kind":"epoch","step":{},"epoch":{},"train_seconds":1,"test_seconds":0.5}})", step,
                          epoch)
           << "\n";
    if (epoch == 1)
      timing << R"({"kind":"checkpoint","step":10,"seconds":0.25,"bytes":1000})"
             << "\n";
  }
  if (!run.reason.empty()) {
    metrics << fmt::format(R"({{"kind":"end","step":20,"reason":"{}","test":{}}})", run.reason,
                           run.evaluated ? of_epoch[1] : "{}")
            << "\n";
    if (run.timed)
      timing << R"({"kind":"end","step":20,"seconds":3.5,"step_seconds":2,"exchange":{"busy_seconds":1}})"
             << "\n";
  }
  if (run.history) {
    std::ofstream history(folder / "history.jsonl");
    history << R"({"started":"2026-11-16T10:30:00Z","kind":"new","first_step":0,"dropped_steps":0,"dropped_seconds":0})"
            << "\n";
    if (run.resumed_with > 0)
      history << R"({"kind":"resumed","first_step":10,"dropped_steps":3,"dropped_seconds":0.3})"
              << "\n";
  }
  if (run.described)
    std::ofstream(folder / "run.json") << fmt::format(
        R"({{"machine":[["processor","{}"]],"peaks":{{"flops_per_second":1e11,"bytes_per_second":1e10,"how":"FMA loop"}},)"
        R"("ranks":{},"teams":{},"nodes":1,"threads":2,"global_batch":{},"parameters":{},"flops_per_sample":1e9,)"
        R"("precision":"float32",)"
        R"("train_samples":{},"test_samples":64,"plan":{{"fingerprint":"0123456789abcdef","inputs":[["x","{}"]]}}}})",
        run.processor, run.resumed_with > 0 ? run.resumed_with : run.ranks, run.teams, run.batch, run.parameters,
        run.train_samples, run.inputs);
  if (run.profiled)
    std::ofstream(folder / "profile" / "rank0.jsonl")
        << R"({"kind":"start","rank":0,"node":0,"host":"here","threads":2})"
        << "\n"
        << R"({"kind":"step","step":2,"seconds":0.1,"totals":{"forward convolution":{"events":2,"seconds":0.03},)"
        << R"("backward convolution":{"events":2,"seconds":0.05},"idle":{"events":1,"seconds":0.02}}})"
        << "\n";
  return folder;
}

inline CardRow row_of(const std::filesystem::path& folder, int number) {
  return run_card(record::read_run(folder)).at(static_cast<std::size_t>(number) - 1);
}

}  // namespace isobar::report
