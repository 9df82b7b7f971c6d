// A replica of memory alone: parameters of given lengths that lie as in a store, and nothing to compute.
#pragma once

#include "isobar/parallel/replica.hpp"

namespace isobar::parallel::trials {

class PlainReplica final : public Replica {
 public:
  struct Declared {
    std::size_t numbers;
    bool trained = true;
  };

  /// Every parameter begins at a multiple of 16 numbers.
  explicit PlainReplica(std::vector<Declared> declared) : declared_(std::move(declared)) {
    std::size_t end = 0;
    for (const Declared& d : declared_) {
      offsets_.push_back(end);
      end += (d.numbers + 15) / 16 * 16;
    }
    weights_.resize(end);
    gradients_.resize(end);
  }

  int parameters() const override { return static_cast<int>(declared_.size()); }
  std::span<float> weight(int p) override { return part(weights_, p); }
  std::span<float> gradient(int p) override { return part(gradients_, p); }
  std::span<float> all_gradients() override { return gradients_; }
  std::size_t offset(int p) const override { return offsets_[static_cast<std::size_t>(p)]; }
  bool trained(int p) const override { return declared_[static_cast<std::size_t>(p)].trained; }
  std::string name(int p) const override { return fmt::format("p{}", p); }
  void forward(const Feed&) override {}
  void backward(const Feed&, const std::function<void(int p)>&) override {}
  void update(int, std::span<const float>, const optim::Step&) override {}
  double loss() const override { return 0; }

 private:
  std::span<float> part(std::vector<float>& all, int p) {
    return std::span(all).subspan(offset(p), declared_[static_cast<std::size_t>(p)].numbers);
  }

  std::vector<Declared> declared_;
  std::vector<std::size_t> offsets_;
  std::vector<float> weights_, gradients_;
};

}  // namespace isobar::parallel::trials
