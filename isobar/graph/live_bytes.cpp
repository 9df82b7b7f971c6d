#include "isobar/graph/live_bytes.hpp"

#include <algorithm>

namespace isobar::graph {

// Buffers that share bytes are one piece of memory, alive from the first step of any of them to the last.
std::vector<std::size_t> live_bytes(const Plan& plan) {
  const std::vector<Buffer>& buffers = plan.buffers;
  struct Piece {
    std::size_t bytes = 0;
    int first = 0, last = -1;
  };
  std::vector<Piece> pieces(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const Buffer& buffer = buffers[b];
    const bool counts = buffer.home == Home::arena || (buffer.home == Home::gradient && plan.gradients_in_arena);
    if (!counts || buffer.last < buffer.first) continue;
    std::size_t root = b;
    while (buffers[root].shares_with >= 0) root = static_cast<std::size_t>(buffers[root].shares_with);
    Piece& piece = pieces[root];
    piece.first = piece.last < 0 ? buffer.first : std::min(piece.first, buffer.first);
    piece.last = std::max(piece.last, buffer.last);
    piece.bytes = std::max(piece.bytes, buffer.bytes);
  }
  std::vector<std::size_t> live(plan.steps.size());
  const int end = static_cast<int>(plan.steps.size());
  for (const Piece& piece : pieces)
    for (int s = piece.first; s <= std::min(piece.last, end - 1); ++s) live[static_cast<std::size_t>(s)] += piece.bytes;
  return live;
}

}  // namespace isobar::graph
