// Gossip in pairs: every rank trains a model of its own at its own pace, and takes the mean with one other now and
// then.
#pragma once

#include "isobar/parallel/exchange.hpp"

namespace isobar::parallel {

/// After so many steps a rank with an odd number meets one with an even number.
std::unique_ptr<Strategy> gossip_in_pairs(std::int64_t period, const ExchangeOptions& options);

}  // namespace isobar::parallel
