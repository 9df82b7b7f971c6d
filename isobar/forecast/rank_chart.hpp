// Charts over numbers of ranks: lines over a logarithmic axis, and training steps as bars divided into their parts.
// Drawn in the colours of a page, or as files with their own colours.
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
  bool logarithmic = false;  ///< for the values as well
};

/// A chart for a page, with the names of its lines below it.
std::string rank_chart(const RankChart& chart);

struct BarPart {
  std::string name{};
  double value = 0;
};

struct Bar {
  std::string label{};
  std::vector<BarPart> parts{};  ///< the same for all bars, in the same order
};

/// Bars below each other for a page, with a common scale and a legend of the colours used; `unit` follows every number.
std::string part_bars(const std::vector<Bar>& bars, std::string_view label, std::string_view unit);

/// The first drawing in `chart`, with the names of its colours, as a file that follows the reader's preference for
/// light or dark.
std::string standalone_svg(std::string_view chart, std::string_view title = {});

}  // namespace isobar::forecast
