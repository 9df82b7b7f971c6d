// Lowering: from graph to steps. Forward kernels in the order of the nodes, then backward kernels in reverse; every
// tensor a kernel declares becomes a buffer with one writer.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// How the results of a forward step are recomputed, if not by the step itself.
struct Repeat {
  PlanStep step;
  std::vector<BufferId> wishes;  ///< per write: the buffer it prefers to overwrite, or none
};

class Lowering {
 public:
  Lowering(const Graph& graph, const PlanOptions& options);

  /// All forward steps needed for the graph's outputs.
  void forward();
  /// All steps from the roots to the gradients of the trained weights.
  void backward();
  /// The steps and buffers; offsets are not decided yet. `wishes` gets, per buffer, the buffer it prefers to overwrite.
  Plan take(Wishes& wishes);
  /// Indexed by forward step.
  const std::map<StepId, Repeat>& repeats() const { return repeats_; }

 private:
  // A contribution to a gradient: a whole buffer, or, with a pitch, rows of channels in a buffer.
  struct Piece {
    BufferId buffer;
    std::int64_t first = 0, pitch = 0;
  };
  using Slots = std::map<int, BufferId>;  // by the slot's number
  struct NodeState {
    bool needed = false;
    Slots saved;
  };

  BufferId new_buffer(std::string name, const Layout& layout, Home home = Home::arena, ParameterId parameter = {});
  void find_needed();
  void find_gradients();
  std::vector<ValueId> roots() const;
  void begin_backward();
  std::vector<ops::Operand> operands(const Node& node) const;
  ops::Setting setting(const Node& node) const;
  void note_repeat(NodeId n, const ops::Kernel& again);
  void emit(NodeId n, ops::Kernel kernel, Slots& temporaries);
  BufferId read_buffer(NodeId n, const ops::Port& port, const Slots& temporaries);
  BufferId write_buffer(NodeId n, const ops::Port& port, Slots& temporaries);
  BufferId weight_as(ValueId id, const Layout& wanted);
  BufferId gradient_of(ValueId id);
  Layout layout_of(ValueId id, const Piece& piece) const;
  bool pass_channels(const Node& node, const ops::Kernel& kernel);
  void add_pieces_of(ValueId id, PlanStep& step);
  void add_simple(std::string name, std::string kernel, Category category, std::vector<BufferId> buffers,
                  std::size_t reads, std::function<void(const ops::Moment&, std::span<const dnnl::memory>)> run);
  void relayout(std::string name, BufferId from, BufferId to);
  void finish_parameter(ValueId id);
  void order_parameters();

  const Graph& graph_;
  const PlanOptions& options_;
  Plan plan_;
  Wishes wish_;
  IdVector<ValueId, BufferId> buffer_of_;                // forward
  IdVector<ValueId, std::vector<Piece>> contributions_;  // gradients still to be summed
  IdVector<ValueId, std::size_t> uses_;                  // nodes that will contribute a gradient
  IdVector<ValueId, bool> needs_gradient_;
  IdVector<ValueId, char> gradient_comes_;  // roots whose operator receives it
  IdVector<ValueId, ParameterId> parameter_of_;
  IdVector<NodeId, NodeState> state_;
  std::map<StepId, Repeat> repeats_;
  std::map<std::pair<BufferId, std::string>, BufferId> other_layouts_;  // (weight, layout) -> buffer
};

/// The total bytes of these tensors.
double port_bytes(std::span<const Layout> layouts);

}  // namespace isobar::graph
