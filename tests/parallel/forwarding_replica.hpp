// A replica that passes everything on to another: for those that change one thing.
#pragma once

#include "isobar/parallel/replica.hpp"

namespace isobar::parallel::trials {

class ForwardingReplica : public Replica {
 public:
  explicit ForwardingReplica(Replica& whole)
      : Replica({whole.parameters().begin(), whole.parameters().end()}, whole.gradients(), nullptr, whole.circles()),
        whole_(whole) {}
  double forward(const Feed& feed) override { return whole_.forward(feed); }
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override { whole_.backward(feed, ready); }
  void update(int p, std::span<const float> gradient, const optim::Step& step) override {
    whole_.update(p, gradient, step);
  }

 protected:
  Replica& whole_;
};

}  // namespace isobar::parallel::trials
