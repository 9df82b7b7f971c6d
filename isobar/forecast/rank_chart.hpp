// Charts over numbers of ranks, which double rather than count: lines over a logarithmic axis, and steps as bars cut
// into what they were made of. Drawn for a page, which gives them their colours; or as files that bring their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isobar::forecast {

struct RankLine {
  std::string name{};
  std::vector<double> ranks{}, values{};
};

struct RankChart {
  std::string name{};  ///< of the values, above their axis
  std::vector<RankLine> lines{};
  bool from_zero = true;
  bool logarithmic = false;  ///< the values too
};

/// A chart for a page, and the names of its lines below it.
std::string rank_chart(const RankChart& chart);

struct BarPart {
  std::string name{};
  double value = 0;
};

struct Bar {
  std::string label{};
  std::vector<BarPart> parts{};  ///< of all bars the same, in the same order
};

/// Bars below each other for a page, in one scale, and what the colours mean that are there; `unit` behind every
/// number.
std::string part_bars(const std::vector<Bar>& bars, std::string_view label, std::string_view unit);

/// The first drawing in `chart`, with the names of its colours, as a file of its own, light or dark as the reader
/// likes.
std::string standalone_svg(std::string_view chart, std::string_view title = {});

}  // namespace isobar::forecast
