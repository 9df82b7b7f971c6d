// ServerRule: what a parameter server makes of what workers send: when it is applied, how, and when a worker is told of
// it. One file for each; a server itself only receives and sends.
#pragma once

#include "isobar/parallel/served_model.hpp"

namespace isobar::parallel {

/// What a worker has sent behind a step.
struct Push {
  int worker = 0;
  std::span<float> numbers{};  ///< in the room that the rule has for it
  optim::Step step{};
  std::int64_t age = 0;  ///< updates since this worker read the weights
  double samples = 0;    ///< that gradients are the mean of
};

class ServerRule {
 public:
  virtual ~ServerRule() = default;
  /// The model is here. It must outlive this.
  virtual void begin(ServedModel& model) = 0;
  /// Where what this worker sends arrives: as many numbers as are trained.
  virtual std::span<float> room(int worker) = 0;
  /// It has arrived.
  virtual void take(const Push& push) = 0;
  /// This worker has read the weights as they are now, besides its steps.
  virtual void has_read(int /*worker*/) {}
  /// This worker sends nothing any more: it is done, or has died.
  virtual void leaves(int /*worker*/, bool /*died*/) {}
  /// Whether a worker whose numbers were taken is told of it now. The others are looked at again behind each push.
  virtual bool may_answer(int /*worker*/) const { return true; }
  /// What it is told: numbers that stay as they are until its next push.
  virtual std::span<const float> answer(int worker) = 0;
  /// The parameter, by its number in the model, whose gradient was not finite, so that what was taken last was not
  /// applied; -1: none.
  virtual int spoilt() const { return -1; }
  /// How many copies of what is trained it keeps besides the model, for so many workers.
  virtual std::size_t copies(int workers) const = 0;
};

/// Each gradient is applied when it comes, and its worker told at once. `aware`: with a rate divided by its age.
std::unique_ptr<ServerRule> apply_at_once(bool aware);

/// How gradients that are somewhat old are turned into what they would be now: g + l g g (w - w'), where w' are the
/// weights that the worker had. `adaptive` divides the factor by the root of a running mean of squared gradients.
struct Compensation {
  double factor = 0.04, memory = 0.95;
  bool adaptive = false;
};
/// As apply_at_once(), with gradients compensated for their age.
std::unique_ptr<ServerRule> apply_compensated(const Compensation& how, bool aware);

/// Gradients are applied when all workers have sent theirs: their sum, or with `mean` their mean over samples. It is
/// added in the order of workers, and clipped by its norm over all servers.
std::unique_ptr<ServerRule> apply_together(bool mean);

/// Each gradient is applied when it comes, with the rate divided by the number of workers. A worker that is more than
/// `bound` pushes ahead of the slowest is told when that one has caught up.
std::unique_ptr<ServerRule> apply_by_clocks(std::int64_t bound);

/// Workers send weights x. The centre c moves to c + a (x - c), and the worker to x - a (x - c), with a = moving /
/// their number.
std::unique_ptr<ServerRule> pull_together(double moving);

}  // namespace isobar::parallel
