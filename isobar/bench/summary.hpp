// Summaries of repeated measurements, without assumptions about their distribution.
#pragma once

#include <span>

namespace isobar::bench {

/// The median, and the order statistics between which the true median lies with 95 % confidence (or the whole range
/// when there are too few numbers for that).
struct Summary {
  double median = 0, low = 0, high = 0;
};

/// Summary of at least one number.
Summary summarize(std::span<const double> values);

}  // namespace isobar::bench
