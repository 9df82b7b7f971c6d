// run_summary: a run summarized in text files: report.txt (what was run, how well it did, where the time went) and
// predictions.csv (every held-out sample).
#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/config.hpp"
#include "isobar/base/text.hpp"
#include "isobar/disk/disk_warnings.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/metrics/metric.hpp"
#include "isobar/pictures/series.hpp"
#include "isobar/record/choices.hpp"
#include "isobar/record/sinks.hpp"

namespace isobar::record {
namespace {

constexpr double giga = 1e9;

std::string category_line(std::string_view name, const CategoryTotal& total, double all_seconds) {
  const auto cell = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : std::string(); };
  const auto rate = [&](double value) { return cell(total.seconds > 0 ? value / total.seconds : 0); };
  const std::string cells =
      fmt::format("{:<21} {:>9} {:>9.3f} {:>6.1f} {:>11} {:>10} {:>8} {:>8}", name, with_commas(total.events),
                  total.seconds, all_seconds > 0 ? 100 * total.seconds / all_seconds : 0, cell(total.flops / giga),
                  cell(total.bytes / giga), rate(total.flops / giga), rate(total.bytes / giga));
  return cells.substr(0, cells.find_last_not_of(' ') + 1) + "\n";
}

std::string exchange(const train::Start& start, const train::End& end, std::int64_t steps) {
  std::string text = fmt::format("{} ranks on {} node{}, {}\n", start.ranks, start.nodes, start.nodes == 1 ? "" : "s",
                                 start.placement.empty() ? "not bound" : start.placement);
  text += fmt::format("{}; {}\n", start.batching, start.strategy);
  const auto share = [&](double seconds) { return end.step_seconds > 0 ? 100 * seconds / end.step_seconds : 0; };
  const auto sent = [&](std::int64_t bytes) { return human_bytes(steps > 0 ? static_cast<double>(bytes) / steps : 0); };
  if (!end.exchanged.empty()) text += end.exchanged + "\n";
  text += fmt::format("exposed communication {:.1f} % of the steps' time; rank 0 sent {} per step\n",
                      share(end.exchange.waited_seconds()), sent(end.exchange.bytes()));
  if (start.ways > 1) text += fmt::format("one model over {} ranks; rank 0 has {}\n", start.ways, start.part);
  if (end.exchange.messages.sums == 0) return text;
  const auto part = [&](const char* what, const comm::ExchangeCost& cost) {
    const auto hidden = comm::hidden_share(cost);
    return fmt::format("  {:<21} exposed {:.1f} %, {} per step{}\n", what, share(cost.waited_seconds),
                       sent(cost.traffic.bytes),
                       hidden ? fmt::format(", {:.0f} % of their time hidden", 100 * *hidden) : "");
  };
  return text + part("messages of the model", end.exchange.messages) + part("gradients", end.exchange.gradients);
}

std::string results(const train::Start& start, const train::End& end) {
  const std::int64_t steps = end.steps - start.first_step;
  std::string text = fmt::format("{} {} steps ({} in this run) in {}\n",
                                 end.reason == train::End::Reason::finished ? "finished" : "interrupted after",
                                 with_commas(end.steps), with_commas(steps), human_seconds(end.seconds));
  text += fmt::format("{} parameters, {} per sample, {} threads\n", with_commas(start.parameters),
                      human_flops(start.flops_per_sample), start.threads);
  if (start.ranks > 1) text += exchange(start, end, steps);
  text += fmt::format("{} checkpoints, written from a copy of {} in memory", with_commas(end.checkpoints.written),
                      human_bytes(start.snapshot_bytes));
  if (end.checkpoints.left_out > 0)
    text += fmt::format("; {} left out: the one before was still being written", with_commas(end.checkpoints.left_out));
  if (end.checkpoints.failed > 0) text += fmt::format("; {} could not be written", with_commas(end.checkpoints.failed));
  text += "\n";
  for (const auto& [name, value] : end.test) text += fmt::format("  test {:<20} {:.6g}\n", name, value);
  if (const std::string choices = choices_text(start.recipe); !choices.empty()) text += choices + "\n";
  if (end.skipped) text += fmt::format("{} bad samples were skipped in training\n", with_commas(*end.skipped));
  for (const std::string& reason : end.first_skipped) text += fmt::format("  {}\n", reason);
  if (end.bad.steps > 0) text += end.bad.str() + "\n";
  if (!end.staging.empty()) text += "staging\n";
  for (const auto& [name, value] : end.staging) text += fmt::format("  {:<25} {:>20}\n", name, with_commas(value));
  return text;
}

std::string classes_csv(const train::End& end) {
  const std::size_t classes = end.predictions.size() / end.targets.size();
  std::string text = "sample,class,predicted\n";
  for (std::size_t i = 0; i < end.targets.size(); ++i) {
    const auto logits = end.predictions.subspan(i * classes, classes);
    const std::size_t predicted = std::max_element(logits.begin(), logits.end()) - logits.begin();
    text +=
        fmt::format("{},{},{}\n", i, metrics::column_name(end.target_names, static_cast<std::size_t>(end.targets[i])),
                    metrics::column_name(end.target_names, predicted));
  }
  return text;
}

class RunSummary final : public train::Sink {
 public:
  void start(const train::Start& start) override { start_ = start; }

  void end(const train::End& end) override {
    std::string text = results(start_, end);
    if (end.trace) text += "\nWhere the time went\n\n" + category_table(*end.trace);
    text += "\nThe recipe\n\n" + write_recipe(start_.recipe);
    disk::written_or_told([&] { disk::write_text(start_.folder / "report.txt", text); });
    if (const std::string csv = predictions_csv(end); !csv.empty())
      disk::written_or_told([&] { disk::write_text(start_.folder / "predictions.csv", csv); });
  }

 private:
  train::Start start_;
};

}  // namespace

std::string category_table(const Trace& trace) {
  CategoryTotal sum;
  for (int c = 0; c < category_count; ++c) {
    const CategoryTotal& total = trace.total(static_cast<Category>(c));
    sum.events += total.events;
    sum.seconds += total.seconds;
    sum.flops += total.flops;
    sum.bytes += total.bytes;
  }
  std::string text = fmt::format("{:<21} {:>9} {:>9} {:>6} {:>11} {:>10} {:>8} {:>8}\n", "category", "events",
                                 "seconds", "%", "GF", "GB", "GF/s", "GB/s");
  for (int c = 0; c < category_count; ++c) {
    const auto category = static_cast<Category>(c);
    if (trace.total(category).events > 0)
      text += category_line(category_name(category), trace.total(category), sum.seconds);
  }
  return text + category_line("all", sum, sum.seconds);
}

std::string predictions_csv(const train::End& end) {
  if (end.predictions.empty() || end.target_shape.count() > max_csv_columns) return "";
  if (end.predictions.size() != end.targets.size()) return end.target_shape.count() == 1 ? classes_csv(end) : "";
  const std::vector<pictures::Series> all = pictures::series_of(end);
  std::string text = "sample";
  for (const pictures::Series& series : all) text += fmt::format(",{},{}_predicted", series.name, series.name);
  text += "\n";
  for (std::size_t i = 0; i < all[0].truth.size(); ++i) {
    text += std::to_string(i);
    // Through float: the shortest text that reads back as the same number.
    for (const pictures::Series& series : all)
      text += fmt::format(",{},{}", static_cast<float>(series.truth[i]), static_cast<float>(series.predicted[i]));
    text += "\n";
  }
  return text;
}

std::unique_ptr<train::Sink> run_summary() { return std::make_unique<RunSummary>(); }

}  // namespace isobar::record
