// Timeline: one step of rank 0, with the activity of the main thread, the exchange and the readers. Events narrower
// than a pixel are merged with their neighbours, so that a step of thousands of kernels stays a small picture.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/report/chart.hpp"
#include "isobar/report/figures.hpp"
#include "isobar/report/html.hpp"
#include "isobar/report/kernel_times.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

using Events = std::vector<record::TraceEvent>;

// The main thread's events determine where a step begins and ends.
struct Span {
  std::int64_t step = 0;
  double begin = 0, end = 0;
  double seconds() const { return end - begin; }
};

std::vector<Span> spans_of(const Events& trace) {
  std::map<std::int64_t, Span> spans;
  for (const record::TraceEvent& event : trace) {
    if (event.lane != Lane::main) continue;
    const auto [found, is_new] = spans.try_emplace(event.step, Span{event.step, event.begin, event.begin});
    found->second.begin = std::min(found->second.begin, event.begin);
    found->second.end = std::max(found->second.end, event.begin + event.seconds);
  }
  std::vector<Span> all;
  for (const auto& [step, span] : spans)
    if (span.seconds() > 0) all.push_back(span);
  return all;
}

Span typical(std::vector<Span> spans) {
  const auto middle = spans.begin() + spans.size() / 2;
  std::ranges::nth_element(spans, middle, {}, &Span::seconds);
  return *middle;
}

// The events of a lane within the span, for whichever step: readers work ahead, but not far. In a resumed run the clock
// may have restarted.
constexpr std::int64_t far_ahead = 16;

Events inside(const Events& trace, const Span& span, Lane lane) {
  Events events;
  for (record::TraceEvent event : trace) {
    if (event.lane != lane || std::abs(event.step - span.step) > far_ahead) continue;
    const double end = std::min(event.begin + event.seconds, span.end);
    event.begin = std::max(event.begin, span.begin);
    event.seconds = end - event.begin;
    if (event.seconds > 0) events.push_back(std::move(event));
  }
  std::ranges::stable_sort(events, {}, &record::TraceEvent::begin);
  return events;
}

// Overlapping events, such as those of several readers, get their own rows.
std::vector<Events> rows_of(Events events) {
  std::vector<Events> rows;
  std::vector<double> ends;
  for (record::TraceEvent& event : events) {
    std::size_t row = 0;
    while (row < rows.size() && ends[row] > event.begin + 1e-9) ++row;
    if (row == rows.size()) rows.emplace_back(), ends.push_back(0);
    ends[row] = event.begin + event.seconds;
    rows[row].push_back(std::move(event));
  }
  return rows;
}

std::string milliseconds(double seconds) { return fmt::format("{:.3f} ms", 1e3 * seconds); }

std::string describe(const record::TraceEvent& event) {
  std::string text = fmt::format("{}: {}", event.name, milliseconds(event.seconds));
  if (event.flops > 0) text += fmt::format(", {}/s", human_flops(event.flops / event.seconds));
  if (event.bytes > 0) text += fmt::format(", {}/s", human_bytes(event.bytes / event.seconds));
  return text;
}

// Neighbouring events merged until they are a pixel wide.
struct Gathered {
  double begin = 0, end = 0;
  std::int64_t count = 0;
  std::map<std::string, double> seconds{};
  std::string only{};

  std::string drawn(double left, double scale, double origin, double y, double height) const {
    const auto most = std::ranges::max_element(seconds, {}, [](const auto& entry) { return entry.second; });
    double busy = 0;
    for (const auto& [category, time] : seconds) busy += time;
    const std::string title =
        count == 1 ? only : fmt::format("{} kernels, {}, mostly {}", count, milliseconds(busy), most->first);
    return category_bar(left + scale * (begin - origin), y, std::max(0.4, scale * (end - begin)), height, most->first,
                        title);
  }
};

std::string drawn_row(const Events& events, const Span& span, double left, double scale, double y, double height) {
  std::string text;
  Gathered group;
  for (const record::TraceEvent& event : events) {
    const double end = event.begin + event.seconds;
    // Events that are wide enough by themselves, or lie apart, are not merged with those before them.
    const bool apart = group.count > 0 && (scale * event.seconds >= 1 || scale * (event.begin - group.end) >= 1);
    if (apart) text += group.drawn(left, scale, span.begin, y, height), group = {};
    if (group.count == 0) group.begin = event.begin, group.only = describe(event);
    group.end = end;
    group.seconds[event.category] += event.seconds;
    ++group.count;
    if (scale * (group.end - group.begin) >= 1) text += group.drawn(left, scale, span.begin, y, height), group = {};
  }
  if (group.count > 0) text += group.drawn(left, scale, span.begin, y, height);
  return text + "\n";
}

// Forward, backward and update as stretches of the main lane; other events continue the stretch they are in.
std::string passes(const Events& events, const Span& span, double left, double scale, double y) {
  struct Pass {
    std::string_view name;
    double begin, end;
  };
  std::vector<Pass> all;
  for (const record::TraceEvent& event : events) {
    const std::string_view name = event.category.starts_with("forward")                  ? "forward"
                                  : event.category.starts_with("backward")               ? "backward"
                                  : event.category == category_name(Category::optimizer) ? "update"
                                                                                         : "";
    if (name.empty()) continue;
    if (all.empty() || all.back().name != name) all.push_back({name, event.begin, 0});
    all.back().end = event.begin + event.seconds;
  }
  std::string text;
  for (const Pass& pass : all) {
    const double x = left + scale * (pass.begin - span.begin), width = scale * (pass.end - pass.begin);
    if (width < 2) continue;
    text += fmt::format(R"(<path class="frame" d="M{:.1f} {:.1f}v-5h{:.1f}v5"/>)", x, y + 4, width);
    if (width > 7.5 * pass.name.size())
      text +=
          fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x + width / 2, y - 6, pass.name);
  }
  return text + "\n";
}

std::string drawn(const Events& trace, const Span& span, double width) {
  const bool wide = width > 600;
  const double left = wide ? 74 : 0, plot_width = width - left - 2, scale = plot_width / span.seconds();
  const double title = wide ? 0 : 18;  // above a lane where there is no room beside it
  struct Row {
    std::string name;
    Events events;
    double height;
  };
  std::vector<Row> rows{{"main", inside(trace, span, Lane::main), 44}};
  for (const Lane lane : {Lane::exchange, Lane::reader}) {
    std::string first(lane_name(lane));
    for (Events& events : rows_of(inside(trace, span, lane)))
      rows.push_back({std::exchange(first, ""), std::move(events), 20});
  }
  std::string text = passes(rows[0].events, span, left, scale, 22 + title);
  double y = 30;
  for (const Row& row : rows) {
    if (!row.name.empty()) {
      y += title;
      text += wide ? fmt::format(R"(<text x="0" y="{:.1f}">{}</text>)", y + row.height / 2 + 4, row.name)
                   : fmt::format(R"(<text x="0" y="{:.1f}">{}</text>)", y - (row.height > 40 ? 26 : 4), row.name);
    }
    text += drawn_row(row.events, span, left, scale, y, row.height);
    y += row.height + 8;
  }
  const pictures::Axis axis{0, 1e3 * span.seconds(),
                            pictures::axis_over(std::array{0.0, 1e3 * span.seconds()}, {}, wide ? 12 : 5).step};
  const double top = y;
  for (const Tick& tick : ticks_of(axis)) {
    const double x = left + plot_width * tick.place;
    text += fmt::format(R"(<path class="frame" d="M{:.1f} {:.1f}v5"/>)", x, top);
    text += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", x, top + 18,
                        tick.place < 0.02   ? "start"
                        : tick.place > 0.97 ? "end"
                                            : "middle",
                        tick.label);
  }
  text += fmt::format(R"(<path class="frame" d="M{:.1f} {:.1f}h{:.1f}"/>)", left, top, plot_width);
  text += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="middle">ms</text>)",
                      left + plot_width / 2, top + 34);
  return chart_svg(width, top + 40, "Timeline of one step", text);
}

std::string timeline_html(const PageSource& source) {
  const std::vector<Span> spans = spans_of(source.trace);
  if (spans.empty())
    return missing_html("No step was traced: report.trace_steps above 0 lets a run write trace/rank0.json.");
  const Span span = typical(spans);
  std::vector<std::string> categories;
  for (int c = 0; c < category_count; ++c) {
    const std::string name(category_name(static_cast<Category>(c)));
    if (std::ranges::any_of(source.trace,
                            [&](const record::TraceEvent& e) { return e.step == span.step && e.category == name; }))
      categories.push_back(name);
  }
  std::string text = fmt::format(
      "<p>Step {} on rank 0, {:.4g} ms: the median of {} traced steps. Point at a piece to read its name; Perfetto and "
      "chrome://tracing open <code>trace/rank0.json</code> with all of them.</p>\n",
      span.step, 1e3 * span.seconds(), spans.size());
  return text + category_legend(categories) +
         both_widths([&](double width) { return drawn(source.trace, span, width); });
}

}  // namespace

extern const Section timeline_section{"timeline", "Timeline of one step", timeline_html};

}  // namespace isobar::report
