// Memory over the step: what must be kept at each step of the plan, besides weights, gradients and optimizer state,
// compared with the size of the arena.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/report/chart.hpp"
#include "isobar/report/figures.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

std::string drawn(const record::RunRecord& run, double width) {
  const double height = width > 600 ? 300 : 260;
  const PlotArea plot{52, 40, width - 60, height - 88};
  const double most =
      run.weight_bytes +
      std::max(run.arena_bytes, std::ranges::max(run.plan, {}, &record::PlannedStep::live_bytes).live_bytes);
  const Unit unit = bytes_unit(most);
  const pictures::Axis bytes{0, 1.06 * most / unit.size,
                             pictures::axis_over(std::array{0.0, most / unit.size}, {}, 5).step};
  const auto count = static_cast<double>(run.plan.size());
  const pictures::Axis steps{0, count,
                             std::max(1.0, pictures::axis_over(std::array{0.0, count}, {}, width > 600 ? 12 : 5).step)};
  const auto y = [&](double value) { return plot.y(bytes.place(value / unit.size)); };
  std::string text = drawn_axes(plot, ticks_of(steps), ticks_of(bytes), "step of the plan", unit.name);
  const double ground = y(run.weight_bytes), bar = plot.width / count;
  text += fmt::format(
      R"(<rect class="c4" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>weights, gradients and optimizer state: {}</title></rect>)",
      plot.left, ground, plot.width, plot.y(0) - ground, human_bytes(run.weight_bytes));
  for (std::size_t i = 0; i < run.plan.size(); ++i) {
    const record::PlannedStep& step = run.plan[i];
    const double top = y(run.weight_bytes + step.live_bytes);
    text += fmt::format(
        R"(<rect class="{}" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}"><title>{} {}: {} alive</title></rect>)",
        i < run.forward_steps ? "c0" : "c2", plot.left + bar * static_cast<double>(i), top,
        std::max(0.5, bar - (bar > 4 ? 1 : 0)), ground - top, html_text(step.name), html_text(step.kernel),
        human_bytes(step.live_bytes));
  }
  const double arena = y(run.weight_bytes + run.arena_bytes);
  text += fmt::format(R"(<path class="rule" d="M{:.1f} {:.1f}h{:.1f}"/>)", plot.left, arena, plot.width);
  text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">arena {}</text>)", plot.left + plot.width,
                      arena - 5, human_bytes(run.arena_bytes));
  return chart_svg(width, height, "Memory over the steps of the plan", text + "\n");
}

std::string memory_html(const PageSource& source) {
  const record::RunRecord& run = source.run;
  if (run.plan.empty())
    return missing_html("The plan is not known: run.json holds it; runs of this version write that file.");
  const auto& peak = std::ranges::max(run.plan, {}, &record::PlannedStep::live_bytes);
  std::string text = fmt::format(
      "<p>One rank keeps {} of weights, gradients and optimizer state, and an arena of {} for everything else. Most is "
      "alive at {} ({}): {}, {} of the arena.</p>\n",
      human_bytes(run.weight_bytes), human_bytes(run.arena_bytes), html_text(peak.name), html_text(peak.kernel),
      human_bytes(peak.live_bytes), percent(peak.live_bytes, run.arena_bytes));
  if (run.again_steps > 0)
    text += fmt::format(
        "<p>To fit into the memory allowed, {} steps of the forward pass are computed again in the backward pass: {} "
        "more "
        "work, which counts as useful nowhere in this report. With everything kept the arena would be {}.</p>\n",
        run.again_steps, human_flops(run.again_flops), human_bytes(run.kept_arena_bytes));
  text +=
      "<ul class=\"key\"><li><i class=\"c4\"></i>weights, gradients, optimizer state</li><li><i class=\"c0\"></i>alive "
      "in "
      "the forward pass</li><li><i class=\"c2\"></i>alive in the backward pass</li></ul>\n";
  return text + both_widths([&](double width) { return drawn(run, width); });
}

}  // namespace

extern const Section memory_section{"memory", "Memory over the step", memory_html};

}  // namespace isobar::report
