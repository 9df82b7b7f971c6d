// ParamStore: weights, gradients and optimizer slots of one model, each contiguous, in the layouts the kernels want.
// Gradients are stored in the order they become final in the backward pass, so that neighbours can be sent together.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "isobar/graph/plan.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::exec {

/// Where the gradient of a parameter lies in the memory of all gradients, in floats.
struct GradientPlace {
  std::size_t offset = 0, count = 0;
  /// False for what a forward pass gathers by itself, such as running statistics: it has no gradient, and the memory of
  /// one is free for whoever exchanges it.
  bool trained = true;
};

class ParamStore {
 public:
  /// Allocates the parameters of a plan, with `slots` optimizer slots each; everything is zero. If `gradients` is
  /// given, gradients are stored there: gradient_floats(plan) zeros that must outlive the store.
  ParamStore(const graph::Plan& plan, int slots, std::span<float> gradients = {});
  /// The length of all_gradients() for a plan.
  static std::size_t gradient_floats(const graph::Plan& plan);
  /// Where they lie, by parameter.
  static std::vector<GradientPlace> gradient_places(const graph::Plan& plan);

  int count() const { return std::ssize(entries_); }
  int slot_count() const { return slots_; }
  const graph::PlanParameter& parameter(int p) const { return entries_[p].parameter; }
  /// The parameter of that name, or -1.
  int find(const std::string& name) const;

  /// In the stored layout, including padding, which is zero and stays zero.
  std::span<float> weight(int p) const { return part(weights_, p); }
  std::span<float> gradient(int p) const { return part(gradients_, p); }
  /// Where the gradient of p begins in all_gradients().
  std::size_t offset(int p) const { return entries_[p].offset; }
  std::span<float> slot(int p, int s) const { return part(slot_blocks_[s], p); }
  /// All gradients, in the order they become final.
  std::span<float> all_gradients() const;
  std::span<float> all_weights() const;
  std::span<float> all_slots(int s) const;

  /// Sets every weight to its given values, or from its initialiser, which depends only on the seed and the weight's
  /// name.
  void initialize(std::uint64_t seed);

  /// Copies between the stored layout and the plain shape, which checkpoints use.
  void read_plain(int p, std::span<const float> stored, std::span<float> plain) const;
  void write_plain(int p, std::span<const float> plain, std::span<float> stored) const;

  /// Layouts by name, for further plans on the same weights.
  std::map<std::string, Layout> layouts() const;
  std::size_t bytes() const;

 private:
  struct Entry {
    graph::PlanParameter parameter;
    std::size_t offset, count;  // in floats
  };
  std::span<float> part(const Block& block, int p) const { return part(reinterpret_cast<float*>(block.data()), p); }
  std::span<float> part(float* all, int p) const {
    const Entry& e = entries_[p];
    return {all + e.offset, e.count};
  }

  int slots_;
  std::vector<Entry> entries_;
  std::size_t total_ = 0;
  Block weights_, own_gradients_;
  float* gradients_ = nullptr;
  std::vector<Block> slot_blocks_;
};

/// Where a plan keeps gradients in its arena, for the constructor of a ParamStore; empty if they are elsewhere.
std::span<float> arena_gradients(const graph::Plan& plan, const Block& arena);

}  // namespace isobar::exec
