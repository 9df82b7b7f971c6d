#include "isobar/record/weight_histograms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isobar::record {
namespace {

constexpr std::size_t parts = 64;

}  // namespace

files::Histogram histogram_of(std::span<const float> numbers) {
  files::Histogram histogram;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const float number : numbers) {
    if (!std::isfinite(number)) continue;
    const auto value = static_cast<double>(number);
    low = std::min(low, value);
    high = std::max(high, value);
    histogram.count += 1;
    histogram.sum += value;
    histogram.sum_of_squares += value * value;
  }
  if (histogram.count == 0) return histogram;
  histogram.min = low;
  histogram.max = high;
  const std::size_t used = high > low ? parts : 1;
  histogram.counts.resize(used);
  const double width = (high - low) / static_cast<double>(used);
  for (std::size_t i = 1; i < used; ++i) histogram.limits.push_back(low + width * static_cast<double>(i));
  histogram.limits.push_back(high);
  const double per_width = width > 0 ? 1 / width : 0;
  for (const float number : numbers)
    if (std::isfinite(number)) {
      const auto part = static_cast<std::size_t>((static_cast<double>(number) - low) * per_width);
      histogram.counts[std::min(part, used - 1)] += 1;
    }
  return histogram;
}

void add_weight_histograms(files::EventSummary& summary, const exec::ParamStore& store) {
  std::vector<float> plain;
  const auto add = [&](const char* group, int p, std::span<const float> stored) {
    store.read_plain(p, stored, plain);
    if (const files::Histogram histogram = histogram_of(plain); histogram.count > 0)
      summary.histogram(fmt::format("{}/{}", group, store.parameter(p).name), histogram);
  };
  for (int p = 0; p < store.count(); ++p) {
    plain.resize(store.parameter(p).declared.shape.count());
    add("weights", p, store.weight(p));
    if (store.parameter(p).declared.trained) add("gradients", p, store.gradient(p));
  }
}

}  // namespace isobar::record
