// What 'isobar plan --tune' remembered, found again by whoever plans the same network for the same batch.
#pragma once

#include <cstdint>
#include <memory>

#include "isobar/base/spec.hpp"
#include "isobar/ops/tuning.hpp"
#include "isobar/tune/tuning_cache.hpp"

namespace isobar::tune {

/// Where the findings for a network are kept: for this processor and as many threads as compute now.
TuningCache cache_of(const Spec& model, std::int64_t batch);

/// What is remembered, or null; of a file that cannot be used one line is said.
std::shared_ptr<const ops::Tuning> known_tuning(const Spec& model, std::int64_t batch);

}  // namespace isobar::tune
