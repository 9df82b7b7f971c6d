// A forecast as text: a table for the terminal, CSV, and JSON.
#pragma once

#include <string>

#include "isobar/forecast/forecast.hpp"

namespace isobar::forecast {

/// What was simulated, one table for each mode, notes, and the error.
std::string forecast_text(const Forecast& forecast);
/// One line for each row, times in seconds.
std::string forecast_csv(const Forecast& forecast);
std::string forecast_json(const Forecast& forecast);

/// "Cori, 9,688 nodes: ..." and "cosmoflow, batch 1 on a rank: ...": the heading of every table.
std::string platform_line(const sim::Scenario& scenario);
std::string workload_line(const sim::Workload& workload);
/// "samples from the burst buffer".
const char* input_name(sim::Input input);

}  // namespace isobar::forecast
