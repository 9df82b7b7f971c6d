// Clipping by the global norm: all gradients together are shortened to a given length, keeping their direction. The
// norm is summed in double over chunks of fixed size, in order, so that it depends neither on threads nor on ranks.
#pragma once

#include <span>

#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

/// What gradients of trained parameters, lying in `gradients` as in all_gradients(), must be multiplied with so that
/// their norm is at most `norm`: 1 when it is, when `norm` is 0, and when theirs is not finite.
double clip_factor(Replica& replica, std::span<const float> gradients, double norm);

}  // namespace isobar::parallel
