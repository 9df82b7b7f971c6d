// Choices: what a run decided by looking at evaluations, according to its recipe, and on which set.
#pragma once

#include <string>

#include "isobar/base/spec.hpp"

namespace isobar::record {

/// Whether the recipe has a validation set: choices are then made there, and the test set is only reported.
bool has_validation(const Spec& recipe);

/// "judged on the validation set: the best checkpoint, the target; the test set was only reported"; empty if nothing
/// was decided by evaluations.
std::string choices_text(const Spec& recipe);

}  // namespace isobar::record
