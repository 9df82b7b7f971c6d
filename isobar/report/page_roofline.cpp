// Roofline: every kernel by FLOPs per byte and FLOP/s, both logarithmic, below the lower of the machine's peak and its
// bandwidth times FLOPs per byte (Williams, Waterman, Patterson 2009). Areas of points are times.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/report/chart.hpp"
#include "isobar/report/kernel_times.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

struct Point {
  const KernelTime* kernel;
  double intensity, rate;  // FLOPs per byte, GF/s
};

// Kernels with almost no arithmetic would squeeze all others together: those this far below the fastest are counted,
// not drawn.
constexpr double decades = 1e5;

struct Roof {
  double flops, bytes;  // giga per second, of one rank; 0: unknown
  bool known() const { return flops > 0 && bytes > 0; }
};

std::vector<Point> points_of(const std::vector<KernelTime>& kernels) {
  std::vector<Point> points;
  for (const KernelTime& k : kernels)
    if (k.flops > 0 && k.bytes > 0 && k.seconds > 0)
      points.push_back({&k, k.flops / k.bytes, k.flops / k.seconds / 1e9});
  return points;
}

pictures::Axis logarithms(std::vector<double> values) {
  for (double& value : values) value = std::log10(value);
  const auto [low, high] = std::ranges::minmax(values);
  return {std::floor(low - 0.1), std::ceil(high + 0.1), 1};
}

struct RoofDrawing {
  std::string line, names;  // drawn below the points, and above them
};

// Both axes cover the ridge.
RoofDrawing drawn(const Roof& roof, const PlotArea& plot, const pictures::Axis& x, const pictures::Axis& y) {
  const double ridge = std::log10(roof.flops / roof.bytes), bandwidth = std::log10(roof.bytes),
               peak = std::log10(roof.flops);
  const double from = std::max(x.low, y.low - bandwidth), at = (from + ridge) / 2;
  const double slope =
      -180 / std::numbers::pi * std::atan2(plot.height / (y.high - y.low), plot.width / (x.high - x.low));
  return {fmt::format(R"(<polyline class="roof" points="{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}"/>)",
                      plot.x(x.place(from)), plot.y(y.place(bandwidth + from)), plot.x(x.place(ridge)),
                      plot.y(y.place(peak)), plot.x(1), plot.y(y.place(peak))) +
              "\n",
          fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}/s</text>)", plot.x(1) - 8,
                      plot.y(y.place(peak)) - 8, human_flops(1e9 * roof.flops)) +
              fmt::format(
                  R"svg(<text transform="translate({:.1f} {:.1f}) rotate({:.1f})" text-anchor="middle">{}/s</text>)svg",
                  plot.x(x.place(at)) - 4, plot.y(y.place(bandwidth + at)) - 8, slope, human_bytes(1e9 * roof.bytes))};
}

struct Box {
  double left, top, right, bottom;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

std::string drawn(const std::vector<Point>& points, const Roof& roof, double width) {
  const bool wide = width > 600;
  const double height = wide ? 460 : 340;
  const PlotArea plot{52, 30, width - 72, height - 78};
  std::vector<double> xs, ys;
  for (const Point& point : points) xs.push_back(point.intensity), ys.push_back(point.rate);
  if (roof.known()) xs.push_back(roof.flops / roof.bytes), ys.push_back(1.3 * roof.flops);
  const pictures::Axis x = logarithms(xs), y = logarithms(ys);
  std::string text = drawn_axes(plot, power_ticks(x), power_ticks(y), "FLOPs per byte", "GF/s");
  const RoofDrawing above = roof.known() ? drawn(roof, plot, x, y) : RoofDrawing{};
  double longest = 0;
  for (const Point& point : points) longest = std::max(longest, point.kernel->seconds);
  const auto spot = [&](const Point& point) {
    const double cx = plot.x(x.place(std::log10(point.intensity))), cy = plot.y(y.place(std::log10(point.rate)));
    const double radius = std::max(2.5, (wide ? 17.0 : 12.0) * std::sqrt(point.kernel->seconds / longest));
    return Box{cx - radius, cy - radius, cx + radius, cy + radius};
  };
  std::vector<Box> taken;
  for (const Point& point : points) taken.push_back(spot(point));
  if (roof.known()) {
    const double peak = plot.y(y.place(std::log10(roof.flops)));
    taken.push_back({plot.x(1) - 80, peak - 20, plot.x(1), peak});
  }
  std::string marks, labels = above.names;
  std::size_t named = 0;
  for (const Point& point : points) {  // the longest first, so that smaller ones stay visible on top
    const Box circle = spot(point);
    const double radius = (circle.right - circle.left) / 2, cx = circle.left + radius, cy = circle.top + radius;
    const std::string share = roof.known()
                                  ? fmt::format(", {:.0f} % of the roof",
                                                100 * point.rate / std::min(roof.flops, roof.bytes * point.intensity))
                                  : "";
    marks += fmt::format(
        R"(<circle class="mark {}" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"><title>{}: {:.1f} GF/s at {:.3g} FLOPs per byte{}</title></circle>)",
        category_class(point.kernel->category), cx, cy, radius, html_text(point.kernel->name), point.rate,
        point.intensity, share);
    const double length = 6.6 * point.kernel->name.size();
    const bool right = cx + radius + length + 6 < plot.left + plot.width;
    const double begin = right ? cx + radius + 4 : cx - radius - 4 - length;
    const Box label{begin, cy - 8, begin + length, cy + 6};
    const bool free = std::ranges::none_of(taken, [&](const Box& box) { return box.meets(label); });
    if (named < (wide ? 8u : 3u) && free && label.left > plot.left) {
      labels += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", right ? begin : begin + length,
                            cy + 4, right ? "start" : "end", html_text(point.kernel->name));
      taken.push_back(label);
      ++named;
    }
  }
  return chart_svg(width, height, "Roofline of the kernels",
                   fmt::format("{}{}{}\n<g class=\"names\">{}</g>\n", text, above.line, marks, labels));
}

std::string roofline_html(const PageSource& source) {
  const std::vector<KernelTime> kernels = kernel_times(source.trace);
  std::vector<Point> points = points_of(kernels);
  if (points.empty())
    return missing_html("No kernel was traced: report.trace_steps above 0 lets a run write trace/rank0.json.");
  const double ranks = std::max(1, source.run.ranks);
  const Roof roof{source.run.peaks.flops_per_second / ranks / 1e9, source.run.peaks.bytes_per_second / ranks / 1e9};
  const double least = std::ranges::max(points, {}, &Point::rate).rate / decades;
  const auto slow = std::erase_if(points, [&](const Point& point) { return point.rate < least; });
  std::vector<std::string> categories;
  for (int c = 0; c < category_count; ++c) {
    const std::string name(category_name(static_cast<Category>(c)));
    if (std::ranges::any_of(points, [&](const Point& point) { return point.kernel->category == name; }))
      categories.push_back(name);
  }
  std::string text =
      "<p>Each point is a kernel on rank 0; its area is its total time. The line is what one "
      "rank's share of the machine can do at best.</p>\n";
  text += category_legend(categories) + both_widths([&](double width) { return drawn(points, roof, width); });
  if (slow > 0)
    text += note_html(fmt::format("{} kernel{} below {:.2g} GF/s {} not drawn.", slow, slow == 1 ? "" : "s", least,
                                  slow == 1 ? "is" : "are"));
  if (!roof.known())
    text += missing_html(
        "There is no roof: the peaks of this machine were not known to the run; isobar doctor measures them.");
  return text;
}

}  // namespace

extern const Section roofline_section{"roofline", "Roofline", roofline_html};

}  // namespace isobar::report
