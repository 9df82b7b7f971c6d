// Optimizers: rules that turn a gradient into a change of the weights. They know only flat memory and hold
// hyper-parameters but no state: what a rule remembers is kept in slots that the caller owns, so shards, parameter
// servers and checkpoints need nothing from the rule.
#pragma once

#include <cstdint>
#include <span>

#include "isobar/base/row.hpp"

namespace isobar::optim {

/// What one update needs to know besides memory.
struct Step {
  std::int64_t index = 1;     ///< counts from 1
  double learning_rate = 0;   ///< from the rate schedule
  double decay_scale = 1;     ///< multiplies the weight decay of this parameter (Caffe's decay_mult)
  double rate_scale = 1;      ///< multiplies the learning rate of this parameter (Caffe's lr_mult)
  double gradient_scale = 1;  ///< multiplies the gradient before the rule sees it
  /// The largest allowed norm of all gradients together; 0: no limit. The strategy, which holds all gradients, turns it
  /// into gradient_scale; a rule sees one parameter at a time and does not read it.
  double clip_norm = 0;
  /// Earlier steps whose updates were undone: the index that a rule gets does not count them.
  std::int64_t undone = 0;

  double rate() const { return learning_rate * rate_scale; }
};

/// Updates one flat parameter from gradient and slots. It works element by element, so shards can be updated one by
/// one, unless the rule needs_whole().
/// A weight that is zero, with zero gradient and slots, stays exactly zero: padding of blocked layouts relies on that.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Numbers remembered per weight; the caller keeps each slot as long as the weights and fills it with zeros first.
  virtual int slots() const = 0;

  /// Changes `w` and the slots in place; the result does not depend on the number of threads.
  virtual void update(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
                      const Step& step) const = 0;

  /// Whether the rule needs the whole parameter, for instance its norm, and so must not be given shards.
  virtual bool needs_whole() const { return false; }

  /// The learning rate the user chose (`lr`), from which a rate schedule starts.
  double base_rate() const { return base_rate_; }

 protected:
  /// Reads `lr`, whose default is `otherwise`.
  Optimizer(Args& args, double otherwise);
  /// Takes over the learning rate of a rule it wraps.
  explicit Optimizer(double base_rate) : base_rate_(base_rate) {}
  /// Checks what only the caller can get wrong: the lengths, the number of slots, the step.
  void expect_fit(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
                  const Step& step) const;

 private:
  double base_rate_;
};

/// Reads a number that must be in [0, below).
double read_below(Args& args, std::string_view key, double otherwise, double below);

/// Reads `epsilon`, which must be finite and still positive as a float, since it prevents 0 / 0 in the padding.
float read_epsilon(Args& args, double otherwise);

/// All update rules; made with make(optimizers(), "adam(lr=1e-3)", "optimizer").
Table<Row<Optimizer>> optimizers();

}  // namespace isobar::optim
