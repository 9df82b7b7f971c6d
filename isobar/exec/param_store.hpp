// ParamStore: weights, gradients and optimizer slots of one model, each contiguous, in the layouts the kernels want.
// Gradients lie in the order they become final in the backward pass, so that neighbours can travel together.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "isobar/graph/plan.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::exec {

class ParamStore {
 public:
  /// Makes room for the parameters of a plan, with `slots` optimizer slots each; everything is zero.
  ParamStore(const graph::Plan& plan, int slots);

  int count() const { return static_cast<int>(entries_.size()); }
  int slot_count() const { return slots_; }
  const graph::PlanParameter& parameter(int p) const { return entries_[static_cast<std::size_t>(p)].parameter; }
  /// The parameter of that name, or -1.
  int find(const std::string& name) const;

  /// In the stored layout, padding included; padding is zero and stays zero.
  std::span<float> weight(int p) const { return part(weights_, p); }
  std::span<float> gradient(int p) const { return part(gradients_, p); }
  std::span<float> slot(int p, int s) const { return part(slot_blocks_[static_cast<std::size_t>(s)], p); }
  /// All gradients, in the order they become final.
  std::span<float> all_gradients() const;
  std::span<float> all_weights() const;

  /// Sets every weight to its given numbers, or from its initialiser; then it depends on the seed and its name only.
  void initialize(std::uint64_t seed);

  /// Copies between the stored layout and the plain shape: what checkpoints hold.
  void read_plain(int p, std::span<const float> stored, std::span<float> plain) const;
  void write_plain(int p, std::span<const float> plain, std::span<float> stored) const;

  /// Layouts by name, for further plans on the same weights.
  std::map<std::string, Layout> layouts() const;
  std::size_t bytes() const;

 private:
  struct Entry {
    graph::PlanParameter parameter;
    std::int64_t offset, count;  // in floats
  };
  std::span<float> part(const Block& block, int p) const;

  int slots_;
  std::vector<Entry> entries_;
  std::int64_t total_ = 0;
  Block weights_, gradients_;
  std::vector<Block> slot_blocks_;
};

}  // namespace isobar::exec
