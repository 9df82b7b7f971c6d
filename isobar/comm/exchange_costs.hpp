// ExchangeCosts: what talking with other ranks costs one rank, divided by what is talked about: the gradients, and the
// messages of the model, which are steps of its plan.
#pragma once

#include <algorithm>
#include <optional>

#include "isobar/comm/reducer.hpp"

namespace isobar::comm {

struct ExchangeCosts {
  ExchangeCost gradients{};  ///< and whatever else a strategy sends
  ExchangeCost messages{};   ///< of the model

  double waited_seconds() const { return gradients.waited_seconds + messages.waited_seconds; }
  std::int64_t bytes() const { return gradients.traffic.bytes + messages.traffic.bytes; }
};

inline ExchangeCosts operator+(ExchangeCosts a, const ExchangeCosts& b) {
  a.gradients += b.gradients;
  a.messages += b.messages;
  return a;
}
/// What has been added since `before`.
inline ExchangeCosts operator-(const ExchangeCosts& now, const ExchangeCosts& before) {
  return {now.gradients - before.gradients, now.messages - before.messages};
}

/// The share of the time under way in which nobody waited; nothing if nothing was under way.
inline std::optional<double> hidden_share(double waited_seconds, double under_way_seconds) {
  if (under_way_seconds <= 0) return std::nullopt;
  return std::clamp(1 - waited_seconds / under_way_seconds, 0.0, 1.0);
}
inline std::optional<double> hidden_share(const ExchangeCost& cost) {
  return hidden_share(cost.waited_seconds, cost.busy_seconds);
}

}  // namespace isobar::comm
