// Outer: what happens between teams. A strategy that nests gives its inner strategy a replica that computes like the
// real one, but offers the gradients of the team instead of applying them; the Outer applies them wherever weights are
// kept, and brings new weights back.
#pragma once

#include "isobar/exec/state_block.hpp"
#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

class Outer {
 public:
  virtual ~Outer() = default;
  /// Weight p of this team has this gradient, summed, checked and clipped. All ranks of the team offer the same.
  virtual void offer(Replica& replica, int p, std::span<const float> gradient, const optim::Step& step) = 0;
  /// Behind a step over so many samples in which everything was offered: may leave new weights in the replica.
  virtual void collect(Replica& replica, double samples) = 0;
  /// A step begins.
  virtual void begin_step(Replica&) {}
  /// Between steps, before the replica is left with what servers keep: what was offered and is only known here becomes
  /// known to them.
  virtual void send_rest(Replica&) {}
  /// As Strategy::state() has it.
  virtual exec::StateBlocks state(Replica&) { return {}; }
};

/// A replica whose gradients go to an Outer.
class OfferingReplica final : public Replica {
 public:
  /// Both must outlive this.
  OfferingReplica(Replica& inner, Outer& outer)
      : Replica({inner.parameters().begin(), inner.parameters().end()}, inner.gradients(), inner.trace(),
                inner.circles()),
        inner_(inner),
        outer_(outer) {}

  double forward(const Feed& feed) override { return inner_.forward(feed); }
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override { inner_.backward(feed, ready); }
  void update(int p, std::span<const float> gradient, const optim::Step& step) override {
    if ((*this)[p].trained) outer_.offer(inner_, p, gradient, step);
  }
  bool pretends(double bytes) override { return inner_.pretends(bytes); }

 private:
  Replica& inner_;
  Outer& outer_;
};

}  // namespace isobar::parallel
