#include "isobar/report/scaling.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/record/median.hpp"
#include "isobar/record/run_record.hpp"

namespace isobar::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<Json> lines_of(const fs::path& path) {
  if (!fs::exists(path)) fail("scaling study: '{}' cannot be read: the run did not begin", path.string());
  return record::read_json_lines(path);
}

// The steps of a run: times, samples, and the loss.
struct Steps {
  std::vector<double> seconds, waits, exposed, bytes;
  std::vector<std::int64_t> samples;
  std::vector<double> losses;
};

std::size_t warm_up(std::size_t steps) { return steps > 20 ? 5 : steps > 2 ? 1 : 0; }

double mean_from(const std::vector<double>& values, std::size_t first) {
  double sum = 0;
  for (std::size_t i = first; i < values.size(); ++i) sum += values[i];
  return values.size() > first ? sum / static_cast<double>(values.size() - first) : 0;
}

ScalingRun read_one(const fs::path& folder, Steps& steps) {
  ScalingRun run{.folder = folder};
  double busy = 0;
  bool ended = false;
  for (const Json& line : lines_of(folder / "timing.jsonl")) {
    const std::string kind = line.value("kind", "");
    if (kind == "start") {
      run.ranks = line.value("ranks", 1);
      run.threads = line.value("threads", 1);
      run.global_batch = line.value("global_batch", std::int64_t{0});
    } else if (kind == "step") {
      steps.seconds.push_back(line.value("seconds", 0.0));
      steps.waits.push_back(line.value("wait_seconds", 0.0));
      steps.exposed.push_back(line.value("exchange_seconds", 0.0));
      steps.bytes.push_back(line.value("bytes_sent", 0.0));
      steps.samples.push_back(line.value("samples", std::int64_t{0}));
    } else if (kind == "end") {
      ended = true;
      if (line.contains("exchange")) busy = line["exchange"].value("busy_seconds", 0.0);
    }
  }
  if (!ended || steps.seconds.empty()) fail("scaling study: the run in '{}' did not finish", folder.string());
  for (const Json& line : lines_of(folder / "metrics.jsonl"))
    if (line.value("kind", "") == "step") steps.losses.push_back(line.value("loss", 0.0));
  const std::size_t first = warm_up(steps.seconds.size());
  run.steps = std::ssize(steps.seconds);
  run.step_seconds = record::median({steps.seconds.begin() + first, steps.seconds.end()});
  run.exposed_seconds = mean_from(steps.exposed, first);
  run.hidden_seconds = std::max(0.0, busy / static_cast<double>(run.steps) - run.exposed_seconds);
  run.bytes_per_step = mean_from(steps.bytes, first);
  run.waiting_seconds = mean_from(steps.waits, first);
  const std::int64_t most = *std::ranges::max_element(steps.samples);
  run.samples_per_second = static_cast<double>(most) / run.step_seconds;
  if (run.global_batch == 0) run.global_batch = most;
  return run;
}

// The mean loss over the last tenth of the steps until `budget` samples have been used.
double loss_after(const Steps& steps, std::int64_t budget) {
  std::size_t last = 0;
  for (std::int64_t seen = 0; last < std::min(steps.losses.size(), steps.samples.size()); ++last)
    if ((seen += steps.samples[last]) > budget) break;
  if (last == 0) return std::numeric_limits<double>::quiet_NaN();
  const std::size_t window = std::max<std::size_t>(1, last / 10);
  double sum = 0;
  for (std::size_t i = last - window; i < last; ++i) sum += steps.losses[i];
  return sum / static_cast<double>(window);
}

}  // namespace

std::vector<ScalingRun> read_scaling(std::span<const fs::path> folders, Scaling kind) {
  std::vector<ScalingRun> runs;
  std::vector<Steps> steps(folders.size());
  std::int64_t budget = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < folders.size(); ++i) {
    runs.push_back(read_one(folders[i], steps[i]));
    std::int64_t samples = 0;
    for (const std::int64_t count : steps[i].samples) samples += count;
    budget = std::min(budget, samples);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].loss = loss_after(steps[i], budget);
    const double more = static_cast<double>(runs[i].ranks) / runs[0].ranks;
    const double ideal = kind == Scaling::strong ? runs[0].step_seconds / more : runs[0].step_seconds;
    runs[i].efficiency = ideal / runs[i].step_seconds;
  }
  return runs;
}

std::string scaling_table(std::span<const ScalingRun> runs, Scaling kind) {
  std::string text = kind == Scaling::strong ? "Strong scaling: constant global batch, fewer samples per rank\n"
                                             : "Weak scaling: constant batch per rank, the global batch grows\n";
  text += fmt::format("{:>6} {:>8} {:>7} {:>10} {:>11} {:>11} {:>11} {:>11} {:>11} {:>9} {:>10}\n", "ranks", "threads",
                      "batch", "ms/step", "samples/s", "efficiency", "exposed ms", "hidden ms", "sent/step", "I/O wait",
                      "loss");
  for (const ScalingRun& run : runs)
    text +=
        fmt::format("{:>6} {:>8} {:>7} {:>10.2f} {:>11.2f} {:>10.1f}% {:>11.2f} {:>11.2f} {:>11} {:>8.1f}% {:>10.5g}\n",
                    run.ranks, run.threads, run.global_batch, run.step_seconds * 1e3, run.samples_per_second,
                    run.efficiency * 100, run.exposed_seconds * 1e3, run.hidden_seconds * 1e3,
                    human_bytes(run.bytes_per_step), run.waiting_seconds / run.step_seconds * 100, run.loss);
  return text +
         "batch: samples of a step on all ranks; exposed and hidden: exchange a rank waited for or computed through;"
         "\nloss: on the training samples, after as many samples as the shortest run used\n";
}

std::string scaling_csv(std::span<const ScalingRun> runs, Scaling kind) {
  std::string text =
      "scaling,ranks,threads,global_batch,steps,seconds_per_step,samples_per_second,efficiency,exposed_seconds,"
      "hidden_seconds,bytes_per_step,wait_seconds,loss\n";
  for (const ScalingRun& run : runs)
    text += fmt::format("{},{},{},{},{},{:.9g},{:.9g},{:.6g},{:.9g},{:.9g},{:.0f},{:.9g},{:.9g}\n",
                        kind == Scaling::strong ? "strong" : "weak", run.ranks, run.threads, run.global_batch,
                        run.steps, run.step_seconds, run.samples_per_second, run.efficiency, run.exposed_seconds,
                        run.hidden_seconds, run.bytes_per_step, run.waiting_seconds, run.loss);
  return text;
}

std::vector<Panel> scaling_panels(std::span<const ScalingRun> runs, Scaling kind) {
  const std::string name = kind == Scaling::strong ? "strong scaling" : "weak scaling";
  Panel speed{"samples/s", {{"measured"}, {"ideal"}}, "ranks, " + name};
  Panel efficiency{"efficiency", {{"%"}}, "ranks, " + name};
  Panel parts{"ms of a step", {{"exposed"}, {"hidden"}, {"I/O"}}, "ranks, " + name};
  const auto add = [](Curve& curve, const ScalingRun& run, double value) {
    curve.epochs.push_back(run.ranks);
    curve.values.push_back(value);
  };
  for (const ScalingRun& run : runs) {
    add(speed.curves[0], run, run.samples_per_second);
    add(speed.curves[1], run, runs[0].samples_per_second * run.ranks / runs[0].ranks);
    add(efficiency.curves[0], run, run.efficiency * 100);
    add(parts.curves[0], run, run.exposed_seconds * 1e3);
    add(parts.curves[1], run, run.hidden_seconds * 1e3);
    add(parts.curves[2], run, run.waiting_seconds * 1e3);
  }
  return {speed, efficiency, parts};
}

std::string scaling_svg(std::span<const ScalingRun> runs, Scaling kind) {
  return curves_svg(scaling_panels(runs, kind),
                    kind == Scaling::strong ? "A study of strong scaling" : "A study of weak scaling");
}

namespace {

Spec without_batch(const Spec& recipe) {
  std::vector<std::pair<std::string, Value>> kept;
  for (const auto& [key, value] : recipe.arguments()) {
    if (key == "folder" || key == "report") continue;
    const auto* section = std::get_if<std::shared_ptr<const Spec>>(&value.held);
    if (key != "data" || !section) {
      kept.emplace_back(key, value);
      continue;
    }
    std::vector<std::pair<std::string, Value>> data;
    for (const auto& [name, setting] : (*section)->arguments())
      if (name != "batch" && name != "batch_per_rank") data.emplace_back(name, setting);
    kept.emplace_back(key, Spec("data", std::move(data)));
  }
  return Spec(recipe.name(), std::move(kept));
}

}  // namespace

std::optional<Scaling> scaling_between(const Spread& a, const Spread& b) {
  if (a.ranks == b.ranks || a.global_batch <= 0 || b.global_batch <= 0) return std::nullopt;
  if (a.global_batch == b.global_batch) return Scaling::strong;
  if (a.global_batch * b.ranks == b.global_batch * a.ranks) return Scaling::weak;
  return std::nullopt;
}

std::optional<Scaling> scaling_of(std::span<const Spread> runs) {
  std::optional<Scaling> kind;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const auto found = scaling_between(runs[0], runs[i]);
    if (!found || (kind && *kind != *found)) return std::nullopt;
    kind = found;
  }
  return kind;
}

bool same_but_batch(const Spec& a, const Spec& b) { return without_batch(a) == without_batch(b); }

}  // namespace isobar::report
