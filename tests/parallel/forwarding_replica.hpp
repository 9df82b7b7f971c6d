// A replica that passes everything on to another: for those that change one thing.
#pragma once

#include "isobar/parallel/replica.hpp"

namespace isobar::parallel::trials {

class ForwardingReplica : public Replica {
 public:
  explicit ForwardingReplica(Replica& whole) : whole_(whole) {}
  int parameters() const override { return whole_.parameters(); }
  std::span<float> weight(int p) override { return whole_.weight(p); }
  std::span<float> gradient(int p) override { return whole_.gradient(p); }
  std::span<float> all_gradients() override { return whole_.all_gradients(); }
  std::size_t offset(int p) const override { return whole_.offset(p); }
  bool trained(int p) const override { return whole_.trained(p); }
  std::string name(int p) const override { return whole_.name(p); }
  void forward(const Feed& feed) override { whole_.forward(feed); }
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override { whole_.backward(feed, ready); }
  void update(int p, std::span<const float> gradient, const optim::Step& step) override {
    whole_.update(p, gradient, step);
  }
  double loss() const override { return whole_.loss(); }

 protected:
  Replica& whole_;
};

}  // namespace isobar::parallel::trials
