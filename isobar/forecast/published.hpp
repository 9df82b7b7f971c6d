// Published results beside forecasts of them. Platforms are as their files say: nothing is tuned to a row. What a row
// says of its workload is from the publication where `source` says so, and marked as assumed where it does not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/forecast/scenario_runner.hpp"

namespace isobar::forecast {

/// A network and its batch: of a rank in weak scaling, of all ranks in strong scaling.
struct PublishedNetwork {
  std::string_view model;
  double batch = 1;
};

struct PublishedCase {
  std::string_view system;  ///< "Cori, 8,192 nodes"
  std::string_view platform;
  std::string_view model;
  double batch = 1;
  std::span<const PublishedNetwork> others{};  ///< where a figure is of several networks: the mean is forecast
  double rank_gflops = 0;                      ///< sustained by a rank alone; 0: what the platform says
  double sample_gflops = 0;                    ///< as the publication counts; 0: what the plan counts
  int ranks = 1;
  std::string_view strategy;
  bool strong = false;
  sim::Input input = sim::Input::none;
  int groups = 1;         ///< that are synchronous within and exchange with parameter servers
  double efficiency = 0;  ///< published
  std::string_view source;
};

std::span<const PublishedCase> published_cases();

struct PublishedRow {
  const PublishedCase* of = nullptr;
  sim::Simulated simulated{};
  double server_seconds = 0;  ///< of a step, a group's root exchanges with parameter servers
  double efficiency = 0;      ///< forecast
  double points() const { return 100 * (efficiency - of->efficiency); }
};

/// Forecasts those whose system or model contains `match`; none is a UsageError.
std::vector<PublishedRow> forecast_published(std::string_view match, ScenarioRunner& runner,
                                             std::span<const PublishedCase> cases = published_cases());

/// The mean of |forecast - published|, in points of efficiency.
double mean_points(std::span<const PublishedRow> rows);

std::string published_text(std::span<const PublishedRow> rows);
std::string published_csv(std::span<const PublishedRow> rows);

/// What exchanging with the servers of all layers costs the root of a group in a step: it sends every gradient and
/// receives every weight, layer by layer, while its group waits.
double server_seconds(const sim::Platform& platform, const sim::Workload& workload);

}  // namespace isobar::forecast
