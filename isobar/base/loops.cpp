#include "isobar/base/loops.hpp"

#include <algorithm>

namespace isobar {

template <LoopIndex Index>
void in_parts(Index count, LoopPart<void, Index> part, std::type_identity_t<Index> length) {
  const Index parts = (count + length - 1) / length;
#pragma omp parallel for schedule(static) if (parts > 1)
  for (Index i = 0; i < parts; ++i) part(i * length, std::min(count, (i + 1) * length));
}

template void in_parts(std::int64_t, LoopPart<void, std::int64_t>, std::int64_t);
template void in_parts(std::size_t, LoopPart<void, std::size_t>, std::size_t);

}  // namespace isobar
