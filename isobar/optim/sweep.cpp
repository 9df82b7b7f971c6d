#include "isobar/optim/sweep.hpp"

#include <algorithm>

namespace isobar::optim {

void sweep(std::size_t count, Dispatched<void(std::size_t begin, std::size_t end)> chunk) {
  const std::size_t chunks = (count + sweep_chunk - 1) / sweep_chunk;
#pragma omp parallel for schedule(static) if (chunks > 1)
  for (std::size_t c = 0; c < chunks; ++c) chunk(c * sweep_chunk, std::min(count, (c + 1) * sweep_chunk));
}

}  // namespace isobar::optim
