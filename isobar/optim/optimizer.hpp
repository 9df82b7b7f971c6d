// Optimizers: rules that turn a gradient into a change of the weights. They know only flat memory and hold
// hyper-parameters, no state: what a rule remembers lies in slots that the caller owns, so shards, parameter servers
// and checkpoints need nothing from the rule.
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
  /// What the norm of all gradients together may be, 0 for no limit. It is for whoever holds all of them, a strategy,
  /// who turns it into gradient_scale; a rule sees one parameter at a time and does not read it.
  double clip_norm = 0;
  /// Steps before this one whose updates were taken back: a rule is given an index without them.
  std::int64_t undone = 0;

  double rate() const { return learning_rate * rate_scale; }
};

/// Updates one flat parameter from gradient and slots; element by element, so a shard is updated as the whole would be,
/// unless the rule needs_whole().
/// Zero weight, zero gradient and zero slots stay exactly zero: blocked layouts rely on it for their padding.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Numbers remembered per weight; the caller keeps each slot as long as the weights and fills it with zeros first.
  virtual int slots() const = 0;

  /// Changes `w` and the slots in place; the result does not depend on the number of threads.
  virtual void update(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
                      const Step& step) const = 0;

  /// Whether the rule looks at the whole parameter, at its norm for instance: it must not be given shards.
  virtual bool needs_whole() const { return false; }

  /// The learning rate the user asked for (`lr`), from which a rate schedule starts.
  double base_rate() const { return base_rate_; }

 protected:
  /// Reads `lr`, by default `otherwise`.
  Optimizer(Args& args, double otherwise);
  /// Takes over the learning rate of a rule it wraps.
  explicit Optimizer(double base_rate) : base_rate_(base_rate) {}
  /// Checks what only the caller can get wrong: lengths, number of slots, step.
  void expect_fit(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
                  const Step& step) const;

 private:
  double base_rate_;
};

/// Reads a number that must lie in [0, below).
double read_below(Args& args, std::string_view key, double otherwise, double below);

/// Reads `epsilon`: finite, and still above zero as a float, since it keeps 0 / 0 out of the padding.
float read_epsilon(Args& args, double otherwise);

/// All update rules; made with make(optimizers(), "adam(lr=1e-3)", "optimizer").
Table<Row<Optimizer>> optimizers();

}  // namespace isobar::optim
