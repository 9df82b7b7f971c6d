// Sums of per-channel numbers over all ranks, for operators that normalise a batch spread over ranks. Numbers are sent
// as floats, together with the exact number of elements they were computed from.
#pragma once

#include <cstdint>
#include <span>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// Replaces `sums` by their sums over all ranks, bitwise equal on all of them, and returns the sum of `count`.
/// Needs moment.sum; all ranks must call it.
std::int64_t sum_over_ranks(const Moment& moment, std::int64_t count, std::span<double> sums);

}  // namespace isobar::ops
