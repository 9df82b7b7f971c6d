// A forecast as files: a self-contained page, its pictures, and the same as text, CSV and JSON.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "isobar/forecast/forecast.hpp"

namespace isobar::forecast {

/// The page.
std::string forecast_html(const Forecast& forecast);

/// Writes forecast.html, .txt, .csv, .json, efficiency.svg, step.svg and cost.svg into a folder, which is created if
/// needed; returns their names.
std::vector<std::string> write_forecast(const Forecast& forecast, const std::filesystem::path& folder);

}  // namespace isobar::forecast
