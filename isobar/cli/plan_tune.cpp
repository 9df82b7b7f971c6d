#include "isobar/cli/plan_tune.hpp"

#include <algorithm>
#include <unistd.h>

#include <fmt/format.h>

#include "isobar/base/bytes.hpp"
#include "isobar/base/clock.hpp"
#include "isobar/base/text.hpp"
#include "isobar/ops/conv_pieces.hpp"
#include "isobar/tune/planner.hpp"
#include "isobar/tune/remembered.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

// Shows progress: on a terminal in one line that is redrawn, elsewhere in an occasional line.
class Progress {
 public:
  explicit Progress(std::size_t layers) : layers_(layers) {}

  void layer(std::size_t number, const std::string& name, double work_done, double work_left) {
    const double spent = now_seconds() - begin_;
    const std::string left = work_done > 0 && spent > 2
                                 ? fmt::format(", about {:.0f} s left", spent / work_done * work_left)
                                 : std::string();
    if (terminal_) {
      fmt::print(stderr, "\r\033[Ktuning layer {} of {}: {}{}", number, layers_, one_line(name, 60), left);
      std::fflush(stderr);
    } else if (number == 1 || now_seconds() - said_ > 10) {
      said_ = now_seconds();
      fmt::print(stderr, "tuning layer {} of {}: {}{}\n", number, layers_, one_line(name, 60), left);
    }
  }
  ~Progress() {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  std::size_t layers_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  double begin_ = now_seconds(), said_ = 0;
};

void show(const tune::TuningRecord& record) {
  fmt::print("{:<24} {:<16} {:<28} {:>9} {:>9} {:>11}\n", "layer", "direction", "chosen", "now ms", "before ms",
             "workspace");
  double now = 0, before = 0;
  for (const tune::Finding& f : record.findings) {
    now += f.seconds;
    before += f.before;
    fmt::print("{:<24} {:<16} {:<28} {:>9.3f} {:>9.3f} {:>11}\n", one_line(f.chosen.node, 24),
               direction_name(f.chosen.direction),
               (f.usual ? "= " : "") + one_line(choice_text(f.chosen.choice), f.usual ? 26 : 28), 1e3 * f.seconds,
               1e3 * f.before, f.workspace ? human_bytes(static_cast<double>(f.workspace)) : "");
  }
  fmt::print("\nconvolutions: {:.1f} ms per step, {:.1f} ms without tuning; = marks the usual method\n", 1e3 * now,
             1e3 * before);
}

// Results from an earlier, interrupted tuning with the same settings.
tune::TuningRecord begun(const tune::TuningCache& cache, const tune::TuneOptions& options) {
  tune::TuningRecord fresh{options.workspace, options.inexact};
  const auto known = tune::read_tuning(cache).record;
  if (!known || known->complete || known->workspace != options.workspace || known->inexact != options.inexact)
    return fresh;
  return *known;
}

}  // namespace

void tune_network(const Spec& model, std::int64_t batch, const graph::Graph& graph, const graph::PlanOptions& options,
                  const TuneRequest& request) {
  if (options.phase != ops::Phase::training) fail_usage("--tune measures training: leave --phase out");
  tune::TuneOptions how;
  how.workspace = read_bytes(request.workspace, "--workspace");
  how.inexact = request.inexact;
  const tune::TuningCache cache = tune::cache_of(model, batch);
  const std::vector<tune::Layer> layers = tune::convolutions(graph, options);
  if (layers.empty()) fail("{} has no convolutions to tune", model.str());
  tune::TuningRecord record = begun(cache, how);
  const auto measured = [&](const tune::Layer& layer) {
    return std::ranges::any_of(record.findings, [&](const auto& f) { return f.chosen.node == layer.node; });
  };
  const auto work = [](const tune::Layer& layer) {
    return layer.problem.flops * static_cast<double>(layer.directions.size());
  };
  double left = 0, done = 0;
  for (const tune::Layer& layer : layers) left += measured(layer) ? 0 : work(layer);
  catch_signals();
  tune::Planner planner(how);
  {
    Progress progress(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (measured(layers[i])) continue;
      progress.layer(i + 1, layers[i].node, done, left);
      const auto findings = planner.tune(layers[i], &stop_requested());
      if (stop_requested()) break;
      record.findings.insert(record.findings.end(), findings.begin(), findings.end());
      write_tuning(cache, record);
      done += work(layers[i]);
      left -= work(layers[i]);
    }
  }
  record.complete = !stop_requested();
  write_tuning(cache, record);
  fmt::print("{}, batch {}: {}\n\n", model.str(), batch, cache.key);
  show(record);
  if (record.complete) fmt::print("remembered in {}\n", cache.file.empty() ? "no file" : cache.file.string());
  else fmt::print(stderr, "isobar: stopped; what was measured is kept, the same command continues\n");
}

}  // namespace isobar::cli
