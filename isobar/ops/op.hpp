// Operator: pure knowledge of one function: its shapes, its forward kernel, its backward kernels, its cost.
// Kernels declare every tensor they read and write; liveness, memory, in-place use, what backward must keep and the
// trace are all derived from these declarations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "isobar/base/row.hpp"
#include "isobar/base/trace.hpp"
#include "isobar/ops/reach.hpp"
#include "isobar/ops/talk.hpp"
#include "isobar/tensor/layout.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::ops {

enum class Phase { training, inference };

class Tuning;

/// What is known while planning.
struct Setting {
  const dnnl::engine& engine;
  Phase phase = Phase::training;
  std::uint64_t site = 0;          ///< identifies this use of the operator; keys its random numbers
  bool own_kernels = true;         ///< false: oneDNN's primitives even where ours are faster
  std::string_view name{};         ///< of the node, for `tuning`
  const Tuning* tuning = nullptr;  ///< the methods measured to be best on this machine; null: none
};

/// What is known while running.
struct Moment {
  dnnl::stream stream;
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::span<const std::int64_t> samples{};  ///< global sample number of each row; keys random masks
  std::int64_t rows = 0;                    ///< rows of the batch that hold samples; the rest is padding
  double total = 1;                         ///< samples the loss is averaged over, on all ranks together
  std::int64_t batch = 0;                   ///< rows of the batch, padding included; 0: not known
};

/// A tensor of the operator, as one of its kernels names it.
struct Slot {
  enum class Kind {
    x,      ///< input or weight; a *write* of kind x updates a weight in place (running statistics)
    y,      ///< output
    saved,  ///< written by forward, read by backward
    dx,     ///< gradient of x
    dy,     ///< gradient of y
    temp,   ///< lives from the kernel that writes it to the last kernel of the same pass that reads it
  } kind;
  int index = 0;
  bool operator==(const Slot&) const = default;
};

/// One declared use of a tensor. A write may share memory with read number `alias_of` if that is not read later.
struct Port {
  Slot slot;
  Layout layout;
  int alias_of = -1;
};

/// One planned call. `run` gets the memories of reads, then of writes, in the order declared. A kernel without `run` is
/// a view: its one write is its one read with another shape. A view that talks begins or ends messages in it.
struct Kernel {
  std::string name;
  Category category = Category::forward_pointwise;
  std::vector<Port> reads{}, writes{};
  double flops = 0;
  std::function<void(const Moment&, std::span<const dnnl::memory>)> run{};
  bool library = false;  ///< runs one oneDNN primitive and nothing else
  std::optional<Talk> talk{};
  std::optional<double> bytes{};  ///< that it moves, if not all of its ports
  /// Recomputes the outputs from the inputs and what was saved, so that they need not be kept for backward. Null: the
  /// kernel itself does, unless it updates weights.
  std::shared_ptr<const Kernel> again{};
};

/// An input of the operator as the planner knows it. A weight whose layout is not decided yet has an empty layout.
struct Operand {
  Shape shape;
  Layout layout;
  bool needs_gradient = false;
};

/// A weight the operator needs: its plain shape and its initial values.
struct Parameter {
  std::string name;  ///< "w", "b"
  Shape shape;
  Spec init = "constant(value=0)";
  bool trained = true;
  double rate_scale = 1;   ///< multiplies the learning rate
  double decay_scale = 1;  ///< multiplies the weight decay
  Shape fans{};            ///< the shape from which its initialiser counts fans, if not its own
  /// If set, the weight starts with these numbers, in plain order, instead of `init`; for imported networks.
  std::shared_ptr<const std::vector<float>> values{};
};

/// y = f(x) element by element, in oneDNN's terms, with the derivative computed from y.
struct Pointwise {
  dnnl::algorithm forward;
  dnnl::algorithm backward;
  float alpha = 0, beta = 0;
  bool increasing = false;  ///< a <= b implies f(a) <= f(b)
};

class Operator {
 public:
  virtual ~Operator() = default;

  /// Weights needed for these data inputs; in the other functions they follow the data inputs in `in`.
  virtual std::vector<Parameter> parameters(std::span<const Shape> in) const;
  /// Shapes of the outputs; throws Error if the inputs do not fit.
  virtual std::vector<Shape> infer(std::span<const Shape> in) const = 0;
  /// The one kernel of operators that need no more than one.
  virtual Kernel forward(const Setting& setting, std::span<const Operand> in) const;
  /// In the order they run; together they write all outputs.
  virtual std::vector<Kernel> forwards(const Setting& setting, std::span<const Operand> in) const;
  /// In the order they run; together they write dx of every input that needs a gradient.
  virtual std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const = 0;

  /// Number of data inputs; -1: one or more.
  virtual int arity() const { return 1; }
  /// Set if the operator is a point-wise function that others may absorb.
  virtual std::optional<Pointwise> pointwise() const { return std::nullopt; }
  /// Whether every output is the largest of some inputs, so that an increasing function may be moved after it.
  virtual bool selects_maximum() const { return false; }
  /// This operator followed by `next`, as one operator, or null.
  virtual std::shared_ptr<const Operator> absorb(const Pointwise& next) const;
  /// Whether the output is a mean over samples that is to be minimised.
  virtual bool is_loss() const { return false; }
  /// Whether the gradient of its output comes from another rank: its backward kernels do not read it.
  virtual bool receives_gradient() const { return false; }
  /// Whether another rank needs the gradient of its output, even if no weight here has a part in it.
  virtual bool sends_gradient() const { return false; }
  /// What the elements of an axis of the outputs read; `axis` is not that of the samples, and `in` includes the
  /// weights. None: every element needs the whole axis.
  virtual std::optional<Reach> reach(int axis, std::span<const Shape> in) const;
  /// The operator that computes a part of an axis with a reach from the elements that this part reads, exactly as the
  /// whole would: padding, divisors and random numbers are those of the whole. Null: this operator does.
  virtual std::shared_ptr<const Operator> cropped(const Crop& crop) const;
};

/// Whole numbers from low up to but not including high.
struct Whole {
  std::int64_t low = 0, high = 0;
};

/// A representative use, run by the conformance tests and the level-0 benchmark.
struct Problem {
  std::string spec;
  std::vector<Shape> in;
  double low = -1, high = 1;  ///< range of the inputs
  Whole last{};               ///< not empty: the last input holds such numbers (classes, indices) and has no gradient
  bool flat = false;          ///< the gradient is zero wherever it exists
};

/// A member of the catalogue, with its problems.
struct OperatorRow {
  using Made = Operator;
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Operator> (*make)(Args&);
  std::vector<Problem> problems;
};

Table<OperatorRow> operators();

/// Makes the operator a Spec names; `resolved`, if given, receives the Spec with all defaults filled in.
std::shared_ptr<const Operator> make_operator(const Spec& spec, Spec* resolved = nullptr);

}  // namespace isobar::ops
