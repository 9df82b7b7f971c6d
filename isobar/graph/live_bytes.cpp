#include "isobar/graph/live_bytes.hpp"

#include <algorithm>

namespace isobar::graph {

// Buffers that share bytes are one piece of memory, live from the first step of any of them to the last.
IdVector<StepId, std::size_t> live_bytes(const Plan& plan) {
  const IdVector<BufferId, Buffer>& buffers = plan.buffers;
  struct Piece {
    std::size_t bytes = 0;
    StepId first{}, last{};
  };
  IdVector<BufferId, Piece> pieces(buffers.size());
  for (const BufferId b : buffers.ids()) {
    const Buffer& buffer = buffers[b];
    const bool counts = buffer.home == Home::arena || (buffer.home == Home::gradient && plan.gradients_in_arena);
    if (!counts || buffer.last < buffer.first) continue;
    BufferId root = b;
    while (buffers[root].shares_with) root = buffers[root].shares_with;
    Piece& piece = pieces[root];
    piece.first = !piece.last ? buffer.first : std::min(piece.first, buffer.first);
    piece.last = std::max(piece.last, buffer.last);
    piece.bytes = std::max(piece.bytes, buffer.bytes);
  }
  IdVector<StepId, std::size_t> live(plan.steps.size());
  for (const Piece& piece : pieces)
    if (piece.last)
      for (const StepId s : ids(piece.first, std::min(piece.last + 1, live.next()))) live[s] += piece.bytes;
  return live;
}

}  // namespace isobar::graph
