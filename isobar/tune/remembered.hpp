// Finds what 'isobar plan --tune' remembered when the same network is planned again for the same batch.
#pragma once

#include <cstdint>
#include <memory>

#include "isobar/base/spec.hpp"
#include "isobar/ops/tuning.hpp"
#include "isobar/tune/tuning_cache.hpp"

namespace isobar::tune {

/// Where the findings for a network are kept, for this processor and the current number of threads.
TuningCache cache_of(const Spec& model, std::int64_t batch);

/// What is remembered, or null; prints one line about a file that cannot be used.
std::shared_ptr<const ops::Tuning> known_tuning(const Spec& model, std::int64_t batch);

}  // namespace isobar::tune
