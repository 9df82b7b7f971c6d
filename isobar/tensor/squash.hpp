// Squash: how the scores that a network predicts become probabilities, which follows from its loss.
#pragma once

#include <string_view>

namespace isobar {

/// none: the numbers are quantities, or it is not known.
enum class Squash { none, softmax, exponential, sigmoid };

/// That of a network trained with the loss of this name.
Squash squash_of(std::string_view loss);

}  // namespace isobar
