// The page of `isobar bench`: records as one self-contained HTML table per level, aims marked as reached or missed, and
// for every network where its time goes.
#pragma once

#include <string>
#include <vector>

#include "isobar/bench/record.hpp"

namespace isobar::cli {

/// Of rows that occur several times the last is shown.
std::string bench_page(const std::vector<bench::Record>& records);

}  // namespace isobar::cli
