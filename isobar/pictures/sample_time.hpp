// When samples are from, as far as their names tell: data-2000-01-31-05-1.h5 (the fifth three hours of a day, as
// climate files are named) or "(2005-01-23 06:00:00)", as NetCDF samples are.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "isobar/datasets/dataset.hpp"

namespace isobar::pictures {

/// Hours since some day long ago of the last date in a text; nothing when it has none.
std::optional<std::int64_t> hour_in(std::string_view text);

/// How many of the first samples follow each other in time, at most a day apart; at most `most`, 0 when fewer than
/// four.
std::int64_t consecutive_samples(const datasets::Dataset& dataset, std::int64_t most);

}  // namespace isobar::pictures
