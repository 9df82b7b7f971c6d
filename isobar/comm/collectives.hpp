// Small collectives over point-to-point messages, for agreeing on lists and counters: not for gradients, which travel
// by schedules. Results do not depend on timing. All ranks must call them, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isobar/comm/comm.hpp"

namespace isobar::comm {

using Bytes = std::vector<std::byte>;

/// Gives all ranks the bytes of `root`, whatever their number: a binomial tree.
void broadcast(Comm& comm, Bytes& bytes, int root = 0);

/// What every rank gave, by rank; lengths may differ: a ring.
std::vector<Bytes> all_gather(Comm& comm, std::span<const std::byte> mine);

/// The number every rank gave, by rank.
std::vector<std::int64_t> all_gather_number(Comm& comm, std::int64_t mine);

/// The largest of the numbers the ranks gave.
double all_largest(Comm& comm, double mine);

/// Returns when all ranks have called it: a dissemination barrier.
void barrier(Comm& comm);

/// As barrier(), but gives up after some seconds and returns false: messages do not arrive.
bool barrier_within(Comm& comm, double seconds);

}  // namespace isobar::comm
