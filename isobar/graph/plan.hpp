// Plan: the steps in order, every layout and every byte offset decided. The executor only walks it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isobar/graph/graph.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/tuning.hpp"

namespace isobar::graph {

/// What may be chosen when a plan is made.
struct PlanOptions {
  ops::Phase phase = ops::Phase::training;
  std::vector<std::string> without{};      ///< graph passes switched off
  bool share_memory = true;                ///< values that do not live at the same time use the same bytes
  bool in_place = true;                    ///< kernels may overwrite what nobody reads any more
  bool own_kernels = true;                 ///< false: oneDNN's primitives only, for comparison
  std::size_t guard_bytes = 0;             ///< unused bytes behind every buffer, for tests
  std::map<std::string, Layout> stored{};  ///< layouts of weights that exist already, by name
  std::size_t memory_limit = 0;  ///< bytes of Plan::memory_bytes(); what does not fit is computed again; 0: no limit
  int weight_copies = 0;         ///< weights, gradients, optimizer slots: as often are weights counted as memory
  std::shared_ptr<const ops::Tuning> tuning{};  ///< what was measured to be best; null: what usually is
  bool gradients_in_arena = false;              ///< they take the bytes of activations that nobody reads any more
};

struct PlanStep;
struct Buffer;
struct PlanParameter;
using StepId = Id<PlanStep>;
using BufferId = Id<Buffer>;
using ParameterId = Id<PlanParameter>;  ///< in its plan; a store may number it otherwise

/// For every buffer the one it would like to overwrite, or none.
using Wishes = IdVector<BufferId, BufferId>;

/// Where the bytes of a buffer are.
enum class Home { arena, input, weight, gradient };

/// A piece of memory with one writer. Several buffers may have the same bytes, one after the other or as views.
struct Buffer {
  std::string name;
  Layout layout;
  std::size_t bytes = 0;
  Home home = Home::arena;
  int input = -1;           ///< which input, when that is its home
  ParameterId parameter{};  ///< which weight or gradient, when that is its home
  std::size_t offset = 0;   ///< in the arena
  StepId first{}, last{};   ///< steps between which it must be kept
  bool temporary = false;   ///< of one operator's pass: may hold anything where it was not written
  BufferId shares_with{};   ///< the earlier buffer whose bytes it uses (in place or view)
};

/// One kernel with its buffers bound.
struct PlanStep {
  std::string name;
  std::string kernel;
  Category category;
  double flops = 0, bytes = 0;
  Shape shape{};  ///< of what it makes, for people
  std::function<void(const ops::Moment&, std::span<const dnnl::memory>)> run{};
  std::vector<BufferId> buffers{};  ///< reads, then writes
  std::vector<Layout> layouts{};    ///< how this kernel sees them
  std::size_t reads = 0;
  bool library = false;                         ///< one oneDNN primitive and nothing else
  std::vector<ParameterId> final_parameters{};  ///< whose gradient is complete after this step
  bool again = false;      ///< makes once more what a forward step made, so that it need not be kept
  double again_flops = 0;  ///< of such a step: its work is not counted as useful, so `flops` is 0
};

/// A weight: its plain shape, and the layout it is stored in.
struct PlanParameter {
  std::string name;
  ops::Parameter declared;
  Layout layout;
};

struct PlanInput {
  std::string name;
  Shape shape;
};

/// One step or weight of a plan, as text: what must be equal where ranks train one network.
struct LayerText {
  std::string name, text;
};

class Plan {
 public:
  IdVector<StepId, PlanStep> steps;
  std::size_t forward_steps = 0;  ///< the rest is backward
  IdVector<BufferId, Buffer> buffers;
  std::vector<PlanInput> inputs;
  IdVector<ParameterId, PlanParameter> parameters;  ///< with a backward pass: in the order gradients become final
  std::map<std::string, BufferId> outputs;
  std::map<std::string, Shape> output_shapes;
  std::size_t arena_bytes = 0;
  std::size_t guard_bytes = 0;
  bool gradients_in_arena = false;   ///< those of a step are there until the next begins
  std::size_t gradient_offset = 0;   ///< of all of them in the arena, as a ParamStore wants them
  int weight_copies = 0;             ///< of PlanOptions
  std::size_t kept_arena_bytes = 0;  ///< of the arena if nothing were computed again; 0: nothing is

  /// Whether the step belongs to the forward pass.
  bool is_forward(StepId s) const { return s < StepId(forward_steps); }
  /// Useful work: what is computed again does not count.
  double flops() const;
  /// Work of the steps that are computed again.
  double again_flops() const;
  std::size_t again_steps() const;
  /// The arena, and all weights as often as weight_copies says.
  std::size_t memory_bytes() const { return arena_bytes + weight_copies * weight_bytes(); }
  /// Bytes of all weights once, as a ParamStore holds them.
  std::size_t weight_bytes() const;
  /// Number of trained numbers in all weights.
  std::int64_t parameter_count() const;
  /// Equal on all ranks that hold the same part of the same network on the same kind of machine.
  std::uint64_t fingerprint() const;
  /// Kernels, shapes and layouts of every step, then of every weight: shows where two fingerprints differ.
  std::vector<LayerText> layers() const;
  /// A table for people.
  std::string table() const;
};

/// Bytes of one weight as a ParamStore holds it.
std::size_t stored_bytes(const PlanParameter& p);

/// Improves the graph, chooses kernels, derives the backward pass (training) and lays out memory.
Plan make_plan(const Graph& graph, const PlanOptions& options = {});

/// Decides in-place use and offsets; called by make_plan.
void plan_memory(Plan& plan, const Wishes& in_place_wishes, const PlanOptions& options);

}  // namespace isobar::graph
