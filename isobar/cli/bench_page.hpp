// The page of `isobar bench`: self-contained HTML with one table of records per level, aims marked as reached or
// missed, and for every network where its time goes.
#pragma once

#include <string>
#include <vector>

#include "isobar/bench/record.hpp"

namespace isobar::cli {

/// If a row occurs several times, the last one is shown.
std::string bench_page(const std::vector<bench::Record>& records);

}  // namespace isobar::cli
