// scatter: predicted against true values, as text for terminals and as a picture. Perfect predictions lie on the
// diagonal.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "isobar/pictures/series.hpp"

namespace isobar::pictures {

/// Plots of columns x rows characters, one for each series, side by side: '.' is the diagonal, 'o' one sample, 'O' two
/// or three, '@' more.
std::string scatter_text(std::span<const Series> all, int columns = 31, int rows = 15);

/// A self-contained SVG picture, one panel for each series side by side, at most four in a row.
std::string scatter_svg(std::span<const Series> all);

/// Writes scatter_svg() into a file.
void write_scatter_svg(const std::filesystem::path& file, std::span<const Series> all);

}  // namespace isobar::pictures
