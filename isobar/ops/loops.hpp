// Loops of our own kernels: parts of a range in parallel, and sums whose order does not depend on the threads. What is
// done to a part is compiled for every level of instructions.
#pragma once

#include <cstdint>

#include "isobar/base/instructions.hpp"

namespace isobar::ops {

inline constexpr std::int64_t loop_part = 16384;  ///< elements one thread takes at a time; also where sums are cut

/// Calls part(begin, end) for consecutive parts of [0, count), in parallel; `part` must not throw.
void in_parts(std::int64_t count, Dispatched<void(std::int64_t begin, std::int64_t end)> part,
              std::int64_t length = loop_part);

/// The sum of part(begin, end) over consecutive parts of [0, count); bitwise the same for any number of threads.
double ordered_sum(std::int64_t count, Dispatched<double(std::int64_t begin, std::int64_t end)> part,
                   std::int64_t length = loop_part);

}  // namespace isobar::ops
