// Advice: strategies, algorithms and numbers of ranks tried against each other; ranked by the time of an epoch, and by
// what can be had without wasting more of the machine than a threshold allows.
#pragma once

#include <string>
#include <vector>

#include "isobar/forecast/forecast.hpp"

namespace isobar::forecast {

struct AdviceRequest {
  Sweep sweep{};             ///< weak scaling; without strategies, candidate_strategies() are tried
  double epoch_samples = 0;  ///< 0: times are those of a million samples
  double threshold = 0.8;    ///< efficiency that must be reached for the second answer
};

struct Advice {
  AdviceRequest request{};
  std::vector<ForecastRow> ranking{};  ///< the fastest epoch first
  const ForecastRow* fastest() const { return ranking.empty() ? nullptr : &ranking.front(); }
  /// The fastest of those with enough efficiency; nothing when none has.
  const ForecastRow* thrifty() const;
  double epoch_seconds(const ForecastRow& row) const;
};

/// sync and lagged(k=1), each with every algorithm of sums that can be had on real machines.
std::vector<Spec> candidate_strategies();

Advice advise(const AdviceRequest& request, ScenarioRunner& runner);

/// The ranking, at most `most` rows of it, and both answers.
std::string advice_text(const Advice& advice, const ForecastError& error, std::size_t most = 20);
std::string advice_csv(const Advice& advice);

}  // namespace isobar::forecast
