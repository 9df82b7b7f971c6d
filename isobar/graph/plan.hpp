// Plan: the steps in order, with every layout and byte offset decided. The executor only goes through them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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
  bool share_memory = true;                ///< values that are not needed at the same time use the same bytes
  bool in_place = true;                    ///< kernels may overwrite what is not read any more
  bool own_kernels = true;                 ///< false: oneDNN's primitives only, for comparison
  std::size_t guard_bytes = 0;             ///< unused bytes after every buffer, for tests
  std::map<std::string, Layout> stored{};  ///< layouts of existing weights, by name
  std::vector<std::string> order{};        ///< of weights, by name, if not that in which gradients become final
  std::size_t memory_limit = 0;  ///< bytes of Plan::memory_bytes(); what does not fit is computed again; 0: no limit
  int weight_copies = 0;         ///< how often weights count as memory: weights, gradients, optimizer slots
  std::shared_ptr<const ops::Tuning> tuning{};  ///< the methods measured to be best; null: the usual ones
  bool gradients_in_arena = false;              ///< they use the bytes of activations that are not read any more
  bool hoist = true;                            ///< messages begin early and are awaited late
};

struct PlanStep;
struct Buffer;
struct PlanParameter;
using StepId = Id<PlanStep>;
using BufferId = Id<Buffer>;
using ParameterId = Id<PlanParameter>;  ///< in its plan; a store may number it differently

/// For every buffer, the buffer it prefers to overwrite, or none.
using Wishes = IdVector<BufferId, BufferId>;

/// Where the bytes of a buffer are.
enum class Home { arena, input, weight, gradient };

/// A piece of memory with one writer. Several buffers may use the same bytes, one after the other or as views.
struct Buffer {
  std::string name;
  Layout layout;
  std::size_t bytes = 0;
  Home home = Home::arena;
  int input = -1;           ///< which input, if its home is `input`
  ParameterId parameter{};  ///< which weight or gradient, if that is its home
  std::size_t offset = 0;   ///< in the arena
  StepId first{}, last{};   ///< steps between which it must be kept
  bool temporary = false;   ///< of one operator's pass: may hold anything where nothing was written
  BufferId shares_with{};   ///< the earlier buffer whose bytes it uses (in place or view)
};

/// One kernel with its buffers bound.
struct PlanStep {
  std::string name;
  std::string kernel;
  Category category;
  double flops = 0, bytes = 0;
  Shape shape{};  ///< of its result, for display
  std::function<void(const ops::Moment&, std::span<const dnnl::memory>)> run{};
  std::vector<BufferId> buffers{};  ///< reads, then writes
  std::vector<Layout> layouts{};    ///< how this kernel sees them
  std::size_t reads = 0;
  bool library = false;                         ///< one oneDNN primitive and nothing else
  std::optional<ops::Talk> talk{};              ///< begins or ends messages in its buffer, in place of `run`
  std::vector<ParameterId> final_parameters{};  ///< whose gradient is complete after this step
  bool again = false;      ///< recomputes the result of a forward step, so that it need not be kept
  double again_flops = 0;  ///< the work of such a step, which does not count as useful: its `flops` is 0
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

/// One step or weight of a plan, as text that must be equal on all ranks that train one network.
struct LayerText {
  std::string name, text;
};

class Plan {
 public:
  IdVector<StepId, PlanStep> steps;
  std::size_t forward_steps = 0;  ///< the rest is backward
  std::int64_t rows = 1;          ///< of a batch, padding included
  IdVector<BufferId, Buffer> buffers;
  std::vector<PlanInput> inputs;
  IdVector<ParameterId, PlanParameter> parameters;  ///< in the order their gradients become final, before hoisting
  std::map<std::string, BufferId> outputs;
  std::map<std::string, Shape> output_shapes;
  std::size_t arena_bytes = 0;
  std::size_t guard_bytes = 0;
  bool gradients_in_arena = false;   ///< the gradients of a step stay there until the next step begins
  std::size_t gradient_offset = 0;   ///< of all gradients in the arena, in the order of a ParamStore
  int weight_copies = 0;             ///< of PlanOptions
  std::size_t kept_arena_bytes = 0;  ///< of the arena if nothing were recomputed; 0: nothing is

  /// Whether the step belongs to the forward pass.
  bool is_forward(StepId s) const { return s < StepId(forward_steps); }
  /// Useful work: recomputation does not count.
  double flops() const;
  /// Work of the steps that recompute.
  double again_flops() const;
  std::size_t again_steps() const;
  /// The circles its steps talk in, in alphabetical order.
  std::vector<std::string> circles() const;
  /// The arena, and weight_copies times all weights.
  std::size_t memory_bytes() const { return arena_bytes + weight_copies * weight_bytes(); }
  /// Bytes of one copy of all weights, as a ParamStore holds them.
  std::size_t weight_bytes() const;
  /// Number of trained numbers in all weights.
  std::int64_t parameter_count() const;
  /// Equal on all ranks that hold the same part of the same network on the same kind of machine.
  std::uint64_t fingerprint() const;
  /// Kernels, shapes and layouts of every step, then of every weight: shows where two fingerprints differ.
  std::vector<LayerText> layers() const;
  /// A table for display.
  std::string table() const;
};

/// Bytes of one weight as a ParamStore holds it.
std::size_t stored_bytes(const PlanParameter& p);

/// Makes options give weights the layouts and the order they have in another plan, so that gradients of both add up.
void follow(const Plan& other, PlanOptions& options);

/// Improves the graph, chooses kernels, derives the backward pass (training) and lays out memory.
Plan make_plan(const Graph& graph, const PlanOptions& options = {});

/// Decides in-place use and offsets; called by make_plan.
void plan_memory(Plan& plan, const Wishes& in_place_wishes, const PlanOptions& options);

/// For every step of the plan, the bytes of the arena that hold something this or a later step needs; at most
/// arena_bytes.
IdVector<StepId, std::size_t> live_bytes(const Plan& plan);

}  // namespace isobar::graph
