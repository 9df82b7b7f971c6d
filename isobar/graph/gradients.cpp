// Gradients of values that several nodes read. Each node contributes a piece; the pieces are added in one pass when the
// sum is needed, and a kernel that can add pieces itself gets them separately. The gradients of a concat's inputs are
// read among the channels of the larger tensor, without copies.
#include <algorithm>

#include "isobar/graph/lower.hpp"
#include "isobar/ops/pieces.hpp"

namespace isobar::graph {

Layout Lowering::layout_of(ValueId id, const Piece& piece) const {
  if (piece.pitch == 0) return plan_.buffers[piece.buffer].layout;
  return ops::piece_layout(graph_.value(id).shape, piece.first, piece.pitch);
}

// All contributions to the gradient of a value, as reads of a kernel that adds them. A contribution that may be
// overwritten comes first.
void Lowering::add_pieces_of(ValueId id, PlanStep& step) {
  auto& pieces = contributions_[id];
  if (pieces.empty()) gradient_of(id);
  std::stable_partition(pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.pitch == 0; });
  for (const Piece& piece : pieces) {
    step.buffers.push_back(piece.buffer);
    step.layouts.push_back(layout_of(id, piece));
  }
}

// Makes the contributions to a gradient contributions to the gradient of some of its channels, in place. False if a
// copy is needed.
bool Lowering::pass_channels(const Node& node, const ops::Kernel& kernel) {
  const std::optional<std::int64_t> first = ops::copied_channels(kernel);
  if (!first) return false;
  const ValueId from = node.out[0];
  const ValueId to = node.in[kernel.writes[0].slot.index];
  if (parameter_of_[to]) return false;  // the store needs it contiguous
  // Several contributions are added first: reading some channels at a time, each would cost as much as the whole sum.
  if (contributions_[from].size() != 1) gradient_of(from);
  const std::int64_t width = graph_.value(from).shape[-1];
  const Piece& piece = contributions_[from][0];
  contributions_[to].push_back({piece.buffer, piece.first + *first, piece.pitch == 0 ? width : piece.pitch});
  return true;
}

// The sum of all contributions to the gradient of a value as one dense buffer; called when all of them exist.
BufferId Lowering::gradient_of(ValueId id) {
  auto& pieces = contributions_[id];
  const std::string& name = graph_.value(id).name;
  if (pieces.empty()) {
    pieces.push_back({new_buffer("d " + name, channels_last(graph_.value(id).shape))});
    const BufferId b = pieces[0].buffer;
    add_simple(name, "zero gradient", Category::backward_pointwise, {b}, 0,
               [bytes = plan_.buffers[b].bytes](const ops::Moment&, std::span<const dnnl::memory> m) {
                 std::fill_n(static_cast<char*>(m[0].get_data_handle()), bytes, char{0});
               });
  }
  if (pieces.size() > 1 || pieces[0].pitch > 0) {
    PlanStep step{name, pieces.size() > 1 ? "sum of gradients" : "slice of gradient",
                  pieces.size() > 1 ? Category::backward_pointwise : Category::copy};
    add_pieces_of(id, step);
    step.reads = step.buffers.size();
    const bool dense = pieces[0].pitch == 0;
    const BufferId to = new_buffer("d " + name, dense ? step.layouts[0] : plain(graph_.value(id).shape));
    if (dense) wish_[to] = pieces[0].buffer;
    step.buffers.push_back(to);
    step.layouts.push_back(plan_.buffers[to].layout);
    step.bytes = port_bytes(step.layouts);
    step.shape = graph_.value(id).shape;
    step.run = [](const ops::Moment&, std::span<const dnnl::memory> m) {
      ops::add_pieces(m.first(m.size() - 1), nullptr, 1, static_cast<float*>(m.back().get_data_handle()));
    };
    plan_.steps.push_back(std::move(step));
    pieces = {{to}};
  }
  return pieces[0].buffer;
}

// Once every use of a weight has contributed, its gradient is summed and written to the store.
void Lowering::finish_parameter(ValueId id) {
  const ParameterId p = parameter_of_[id];
  if (!p || !needs_gradient_[id] || uses_[id] == 0 || contributions_[id].size() < uses_[id]) return;
  uses_[id] = 0;
  const Layout stored = plan_.parameters[p].layout;
  auto& parts = contributions_[id];
  for (std::size_t i = 0; parts.size() > 1 && i < parts.size(); ++i) {  // a sum needs one layout
    if (same_bytes(plan_.buffers[parts[i].buffer].layout, stored)) continue;
    const BufferId same = new_buffer("d " + graph_.value(id).name, stored);
    relayout(graph_.value(id).name, parts[i].buffer, same);
    parts[i] = {same};
  }
  const BufferId sum = gradient_of(id);
  if (same_bytes(plan_.buffers[sum].layout, stored)) {
    Buffer& home = plan_.buffers[sum];
    home.home = Home::gradient;
    home.parameter = p;
  } else {
    relayout(plan_.parameters[p].name, sum, new_buffer("d " + graph_.value(id).name, stored, Home::gradient, p));
  }
  plan_.steps.back().final_parameters.push_back(p);
}

}  // namespace isobar::graph
