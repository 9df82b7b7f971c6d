// What teams do between steps where parameters have servers: what they push there, and when.
#pragma once

#include <memory>

#include "isobar/parallel/outer.hpp"
#include "isobar/parallel/team_line.hpp"

namespace isobar::parallel {

/// Pushes gradients behind every `period`-th step. Between, weights are updated by the team's own optimizer; what is
/// pushed is the mean gradient of these steps, with the sum of their rates.
std::unique_ptr<Outer> push_gradients(TeamLine& line, std::int64_t period);

/// Updates weights by the team's own optimizer, and pushes them behind every `period`-th step.
std::unique_ptr<Outer> push_weights(TeamLine& line, std::int64_t period);

}  // namespace isobar::parallel
