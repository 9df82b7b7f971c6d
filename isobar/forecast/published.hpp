// Published results compared with forecasts. Platforms are used as in their files: nothing is tuned to a row. The
// workload of a row comes from the publication where `source` says so, and is marked as assumed otherwise.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/forecast/scenario_runner.hpp"

namespace isobar::forecast {

/// A network and its batch: per rank in weak scaling, of all ranks in strong scaling.
struct PublishedNetwork {
  std::string_view model;
  double batch = 1;
};

struct PublishedCase {
  std::string_view system;  ///< "Cori, 8,192 nodes"
  std::string_view platform;
  std::string_view model;
  double batch = 1;
  std::span<const PublishedNetwork> others{};  ///< if a figure covers several networks: the mean is forecast
  double rank_gflops = 0;                      ///< sustained by a rank alone; 0: the platform's value
  double sample_gflops = 0;                    ///< as the publication counts; 0: the plan's count
  int ranks = 1;
  std::string_view strategy;
  bool strong = false;
  sim::Input input = sim::Input::none;
  double efficiency = 0;  ///< published
  std::string_view source;
};

std::span<const PublishedCase> published_cases();

struct PublishedRow {
  const PublishedCase* of = nullptr;
  sim::Simulated simulated{};
  double efficiency = 0;  ///< forecast
  double points() const { return 100 * (efficiency - of->efficiency); }
};

/// Forecasts the cases whose system or model contains `match`; throws UsageError if there are none.
std::vector<PublishedRow> forecast_published(std::string_view match, ScenarioRunner& runner,
                                             std::span<const PublishedCase> cases = published_cases());

/// The mean of |forecast - published|, in points of efficiency.
double mean_points(std::span<const PublishedRow> rows);

std::string published_text(std::span<const PublishedRow> rows);
std::string published_csv(std::span<const PublishedRow> rows);

}  // namespace isobar::forecast
