// KeptParameters: the part of a model that a server keeps: weights and optimizer slots, in the order of the model.
// Running statistics and the like are not updated: each worker has its own, and the model has their mean.
#pragma once

#include <memory>

#include "isobar/comm/gradient_memory.hpp"
#include "isobar/parallel/server_words.hpp"

namespace isobar::parallel {

class KeptParameters {
 public:
  KeptParameters() = default;
  /// In `memory` of numbers_of() floats, or all zero in memory of its own. The optimizer must outlive this.
  KeptParameters(std::span<const ServedParameter> parameters, const optim::Optimizer& optimizer,
                 std::unique_ptr<comm::GradientMemory> memory = nullptr);
  /// Weights and slots of such parameters together.
  static std::size_t numbers_of(std::span<const ServedParameter> parameters, const optim::Optimizer& optimizer);

  /// How many numbers are trained, and how many are not.
  std::size_t trained() const { return trained_; }
  std::size_t statistics() const { return statistics_; }

  /// Applies the gradients of all that is trained, one after the other, as update number `index`.
  void update(std::span<const float> gradients, const optim::Step& at, std::int64_t index);
  /// What is not trained becomes the mean of these, as workers have sent it; those that have sent nothing do not count.
  void set_statistics(const std::vector<std::span<const float>>& by_worker);

  /// Weights and slots, parameter by parameter.
  std::vector<std::span<float>> state();
  /// All of that, as it lies in memory.
  std::span<const float> numbers() const { return memory_->mine(); }
  void copy_trained_weights(std::span<float> into) const;
  /// Calls work(number, weight, part) for each that is trained: its number among the parameters given, and its part of
  /// `numbers`, which lie as gradients do.
  template <class T, class Work>
  void each_trained(std::span<T> numbers, Work work) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!all_[i].parameter.trained) continue;
      work(i, all_[i].weight, numbers.first(all_[i].weight.size()));
      numbers = numbers.subspan(all_[i].weight.size());
    }
  }

 private:
  struct Kept {
    ServedParameter parameter;
    std::span<float> weight{};
    std::vector<std::span<float>> slots{};
  };

  const optim::Optimizer* optimizer_ = nullptr;
  std::unique_ptr<comm::GradientMemory> memory_;
  std::vector<Kept> all_;
  std::size_t trained_ = 0, statistics_ = 0;
};

}  // namespace isobar::parallel
