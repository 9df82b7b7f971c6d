// Lowering: from graph to steps. Forward kernels in the order of the nodes, then backward kernels in reverse; every
// tensor a kernel declares becomes a buffer with one writer.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// How what a forward step made is made again, where that is not the step itself.
struct Repeat {
  PlanStep step;
  std::vector<int> wishes;  ///< per write: the buffer it would like to overwrite, or -1
};

class Lowering {
 public:
  Lowering(const Graph& graph, const PlanOptions& options);

  /// All forward steps needed for the graph's outputs.
  void forward();
  /// All steps from the loss to the gradients of the trained weights.
  void backward();
  /// The steps and buffers; offsets are still open. `wishes` gets, per buffer, the buffer it would like to overwrite.
  Plan take(std::vector<int>& wishes);
  /// By forward step.
  const std::map<std::size_t, Repeat>& repeats() const { return repeats_; }

 private:
  // A contribution to a gradient: all of a buffer, or, with a pitch, rows of channels in it.
  struct Piece {
    int buffer;
    std::int64_t first = 0, pitch = 0;
  };
  struct NodeState {
    bool needed = false;
    std::map<int, int> saved;  // slot -> buffer
  };

  int new_buffer(std::string name, const Layout& layout, Home home = Home::arena, int index = -1);
  void find_needed();
  void find_gradients();
  std::vector<ops::Operand> operands(const Node& node) const;
  ops::Setting setting(const Node& node) const;
  void note_repeat(const Node& node, const ops::Kernel& again);
  void emit(const Node& node, ops::Kernel kernel, std::map<int, int>& temporaries);
  int read_buffer(const Node& node, const ops::Port& port, std::map<int, int>& temporaries);
  int write_buffer(const Node& node, const ops::Port& port, std::map<int, int>& temporaries);
  int weight_as(ValueId id, const Layout& wanted);
  int gradient_of(ValueId id);
  Layout layout_of(ValueId id, const Piece& piece) const;
  bool pass_channels(const Node& node, const ops::Kernel& kernel);
  void add_pieces_of(ValueId id, PlanStep& step);
  void add_simple(std::string name, std::string kernel, Category category, std::vector<int> buffers, std::size_t reads,
                  std::function<void(const ops::Moment&, std::span<const dnnl::memory>)> run);
  void relayout(std::string name, int from, int to);
  void finish_parameter(ValueId id);
  void order_parameters();

  const Graph& graph_;
  const PlanOptions& options_;
  Plan plan_;
  std::vector<int> wish_;                          // per buffer
  std::vector<int> buffer_of_;                     // per value, forward
  std::vector<std::vector<Piece>> contributions_;  // per value: gradients still to be summed
  std::vector<int> uses_;                          // per value: nodes that will contribute a gradient
  std::vector<bool> needs_gradient_;
  std::vector<int> parameter_of_;  // per value
  std::vector<NodeState> state_;
  std::map<std::size_t, Repeat> repeats_;
  std::map<std::pair<int, std::string>, int> other_layouts_;  // (weight buffer, layout) -> buffer
};

/// The bytes of all these tensors together.
double port_bytes(std::span<const Layout> layouts);

}  // namespace isobar::graph
