// One pass over a parameter's memory, in parallel. Chunks are of fixed size, so that no result depends on the number of
// threads, and small enough that everything one chunk touches stays in the second-level cache.
#pragma once

#include <cstddef>

#include "isobar/base/instructions.hpp"

namespace isobar::optim {

/// Elements of one chunk; a shorter parameter is left to the calling thread.
inline constexpr std::size_t sweep_chunk = 16384;

/// Calls `chunk(begin, end)` for pieces that cover [0, count) once, from several threads at a time, with the best
/// instructions there are.
void sweep(std::size_t count, Dispatched<void(std::size_t begin, std::size_t end)> chunk);

}  // namespace isobar::optim
