// Advice: compares strategies, algorithms and numbers of ranks; finds the fastest epoch, and the fastest that reaches a
// given efficiency.
#pragma once

#include <string>
#include <vector>

#include "isobar/forecast/forecast.hpp"

namespace isobar::forecast {

struct AdviceRequest {
  Sweep sweep{};             ///< weak scaling; without strategies, uses candidate_strategies()
  double epoch_samples = 0;  ///< 0: times are for a million samples
  double threshold = 0.8;    ///< efficiency required for the second answer
};

struct Advice {
  AdviceRequest request{};
  std::vector<ForecastRow> ranking{};  ///< the fastest epoch first
  const ForecastRow* fastest() const { return ranking.empty() ? nullptr : &ranking.front(); }
  /// The fastest row with enough efficiency; null if there is none.
  const ForecastRow* thrifty() const;
  double epoch_seconds(const ForecastRow& row) const;
};

/// sync and lagged(k=1), each with every algorithm for sums that real machines can use.
std::vector<Spec> candidate_strategies();

Advice advise(const AdviceRequest& request, ScenarioRunner& runner);

/// At most `most` rows of the ranking, and both answers.
std::string advice_text(const Advice& advice, const ForecastError& error, std::size_t most = 20);
std::string advice_csv(const Advice& advice);

}  // namespace isobar::forecast
