// Clipping by the global norm: all gradients together are shortened to a given length, keeping their direction. The
// norm is summed in double over chunks of fixed size, in order, so that it depends neither on threads nor on ranks.
#pragma once

#include <span>

#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

/// The step with a gradient_scale with which the norm of all gradients is at most step.clip_norm; `gradients` lie as
/// all gradients do. Left as it is where there is no limit, and where the norm is not finite. `chore`: taking the norm.
optim::Step clip(Replica& replica, std::span<const float> gradients, const optim::Step& step, Chore& chore);

}  // namespace isobar::parallel
