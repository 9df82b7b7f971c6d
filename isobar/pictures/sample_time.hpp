// The times of samples, if their names contain them: data-2000-01-31-05-1.h5 (the fifth three-hour interval of a day,
// as in climate files) or "(2005-01-23 06:00:00)", as in NetCDF samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "isobar/datasets/dataset.hpp"

namespace isobar::pictures {

/// The last date in a text, in hours since a fixed day; nothing when there is no date.
std::optional<std::int64_t> hour_in(std::string_view text);

/// How many leading samples are consecutive in time, each at most a day after the previous; at most `most`, and 0 when
/// fewer than four.
std::int64_t consecutive_samples(const datasets::Dataset& dataset, std::int64_t most);

}  // namespace isobar::pictures
