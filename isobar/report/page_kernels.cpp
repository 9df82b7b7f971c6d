// Kernels: where the time of the traced steps went, by category and for the longest kernels, compared with the measured
// peak of one rank's share of the machine.
#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/report/chart.hpp"
#include "isobar/report/figures.hpp"
#include "isobar/report/html.hpp"
#include "isobar/report/kernel_times.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

constexpr std::size_t most_kernels = 15;
constexpr Category order[category_count] = {Category::forward_convolution,
                                            Category::forward_pointwise,
                                            Category::backward_convolution,
                                            Category::backward_pointwise,
                                            Category::optimizer,
                                            Category::copy,
                                            Category::communication,
                                            Category::convert,
                                            Category::input_output,
                                            Category::idle};

// The usual name of a category, where it is longer than ours.
std::string title_of(Category category) {
  return category == Category::communication ? "allreduce/communication" : std::string(category_name(category));
}

std::string named(std::string_view category, std::string_view name) {
  return fmt::format("<span class=\"name\"><i class=\"{}\"></i>{}</span>", category_class(category), html_text(name));
}

struct Sums {
  std::array<CategoryTotal, category_count> totals{};
  CategoryTotal all{};
  double steps = 0;  // of all ranks that train
  int ranks = 0;

  const CategoryTotal& of(Category category) const { return totals[static_cast<std::size_t>(category)]; }
};

void add(CategoryTotal& sum, const CategoryTotal& more) {
  sum.events += more.events;
  sum.seconds += more.seconds;
  sum.flops += more.flops;
  sum.bytes += more.bytes;
}

Sums sums_of(const record::RunRecord& run) {
  Sums sums;
  for (const record::RankRecord& rank : run.by_rank) {
    if (rank.serves) continue;
    ++sums.ranks;
    const auto totals = run.totals(rank);
    for (std::size_t c = 0; c < totals.size(); ++c) {
      add(sums.totals[c], totals[c]);
      add(sums.all, totals[c]);
    }
    sums.steps += static_cast<double>(rank.steps.size());
  }
  return sums;
}

// One row: the name, then figures per step and rank.
struct Columns {
  double steps, all_seconds, peak_flops, peak_bytes;
  Unit seconds, flops, bytes;

  std::vector<Column> titles() const {
    return {{"category"},
            {"kernels", true},
            {"time, " + seconds.name, true},
            {"work, " + flops.name, true},
            {"traffic, " + bytes.name, true},
            {"% time", true},
            {"% of peak", true},
            {"% of bandwidth", true}};
  }
  std::vector<std::string> row(const std::string& name, const CategoryTotal& total) const {
    const auto share = [&](double amount, double peak) {
      return amount > 0 && peak > 0 && total.seconds > 0 ? fmt::format("{:.1f}", 100 * amount / (total.seconds * peak))
                                                         : std::string();
    };
    const double events = static_cast<double>(total.events) / steps;
    return {name,
            total.events == 0 ? "0" : fmt::format("{:.{}f}", events, events == static_cast<int>(events) ? 0 : 1),
            seconds.text_or_blank(total.seconds / steps),
            flops.text_or_blank(total.flops / steps),
            bytes.text_or_blank(total.bytes / steps),
            total.seconds > 0 ? fmt::format("{:.1f}", 100 * total.seconds / all_seconds) : "",
            share(total.flops, peak_flops),
            share(total.bytes, peak_bytes)};
  }
};

std::string share_bar(const Sums& sums, double width) {
  double x = 0;
  std::string inside;
  for (const Category category : order) {
    const CategoryTotal& total = sums.of(category);
    if (total.seconds <= 0) continue;
    const double share = total.seconds / sums.all.seconds, length = width * share;
    inside += category_bar(x, 0, length, 26, category_name(category),
                           fmt::format("{}: {:.1f} % of the time", title_of(category), 100 * share));
    x += length;
  }
  return chart_svg(width, 26, "Shares of a step's time by category", inside);
}

std::string category_table(const record::RunRecord& run, const Sums& sums) {
  const double ranks = std::max(1, run.ranks);
  const Columns columns{sums.steps,
                        sums.all.seconds,
                        run.peaks.flops_per_second / ranks,
                        run.peaks.bytes_per_second / ranks,
                        seconds_unit(sums.all.seconds / sums.steps),
                        flops_unit(sums.all.flops / sums.steps),
                        bytes_unit(sums.all.bytes / sums.steps)};
  std::vector<std::vector<std::string>> rows;
  for (const Category category : order)
    rows.push_back(columns.row(named(category_name(category), title_of(category)), sums.of(category)));
  rows.push_back(columns.row("the whole step", sums.all));
  return html_table(columns.titles(), rows, true);
}

std::string relative_to(const record::RunRecord& run) {
  if (run.peaks.flops_per_second <= 0)
    return missing_html(
        "Shares of peak and bandwidth are not shown: the peaks of this machine were not known to the run; isobar "
        "doctor "
        "measures them.");
  const double ranks = std::max(1, run.ranks);
  return note_html(
      fmt::format("Peak and bandwidth of one rank: {}/s and {}/s{}. Traffic is what kernels read and write "
                  "at least; out of caches it can be faster than memory.",
                  human_flops(run.peaks.flops_per_second / ranks), human_bytes(run.peaks.bytes_per_second / ranks),
                  run.peaks.how.empty() ? "" : ", measured: " + run.peaks.how));
}

std::string longest(const PageSource& source) {
  const std::vector<KernelTime> kernels = kernel_times(source.trace);
  if (kernels.empty())
    return missing_html(
        "Single kernels are not known: trace/rank0.json is missing; report.trace_steps above 0 writes it.");
  const auto steps = static_cast<double>(traced_steps(source.trace).size());
  const double ranks = std::max(1, source.run.ranks);
  double all = 0;
  for (const record::TraceEvent& event : source.trace) all += event.lane == Lane::main ? event.seconds : 0;
  const Unit seconds = seconds_unit(kernels[0].seconds / steps);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(most_kernels, kernels.size()); ++i) {
    const KernelTime& k = kernels[i];
    const auto rate = [&](double amount) {
      return amount > 0 && k.seconds > 0 ? fmt::format("{:.1f}", amount / k.seconds / 1e9) : std::string();
    };
    const auto share = [&](double amount, double peak) {
      return amount > 0 && peak > 0 && k.seconds > 0 ? fmt::format("{:.1f}", 100 * amount * ranks / (k.seconds * peak))
                                                     : std::string();
    };
    rows.push_back({named(k.category, k.name), seconds.text(k.seconds / steps),
                    fmt::format("{:.1f}", 100 * k.seconds / all), rate(k.flops),
                    share(k.flops, source.run.peaks.flops_per_second), rate(k.bytes),
                    share(k.bytes, source.run.peaks.bytes_per_second)});
  }
  const std::vector<Column> columns{
      {"kernel"},     {"time, " + seconds.name, true}, {"% time", true}, {"GF/s", true}, {"% of peak", true},
      {"GB/s", true}, {"% of bandwidth", true}};
  return fmt::format("<h3>The {} longest of {} kernels</h3>\n{}{}", rows.size(), kernels.size(),
                     note_html(fmt::format("A step on rank 0, mean over {} traced steps.", steps)),
                     html_table(columns, rows));
}

std::string kernels_html(const PageSource& source) {
  const record::RunRecord& run = source.run;
  const Sums sums = sums_of(run);
  if (sums.steps == 0 || sums.all.seconds <= 0)
    return missing_html("No step was traced: report.trace_steps above 0 lets a run write profile/ and trace/.");
  std::string text = fmt::format(
      "<p>One step on one rank, the mean over {:.0f} traced steps of {}{}. The rows are the main thread's time, "
      "waiting "
      "included, and add up to the step.</p>\n",
      sums.steps, sums.ranks == 1 ? "one rank" : fmt::format("{} ranks together", sums.ranks),
      std::ssize(run.by_rank) < run.ranks ? fmt::format(" (of {}; the others left no profile here)", run.ranks) : "");
  text += both_widths([&](double width) { return share_bar(sums, width); });
  text += category_table(run, sums) + relative_to(run);
  const double peak = run.peaks.flops_per_second / std::max(1, run.ranks);
  if (peak > 0 &&
      std::ranges::any_of(sums.totals, [&](const CategoryTotal& total) { return total.flops > total.seconds * peak; }))
    text += missing_html(above_peak);
  return text + longest(source);
}

}  // namespace

extern const Section kernels_section{"kernels", "Kernels", kernels_html};

}  // namespace isobar::report
