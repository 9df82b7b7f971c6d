// Sums of per-channel numbers over all ranks, for operators that normalise a batch spread over them. Numbers travel as
// floats; how many elements they were taken from travels beside them, exactly.
#pragma once

#include <cstdint>
#include <span>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// Replaces `sums` by their sums over all ranks, which have the same bits on all, and returns the sum of `count`.
/// Needs moment.sum; all ranks must call.
std::int64_t sum_over_ranks(const Moment& moment, std::int64_t count, std::span<double> sums);

}  // namespace isobar::ops
