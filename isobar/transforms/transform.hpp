// Transform: one thing done to field x of a sample between data set and network: crop, mirror, subtract_mean, ...
// A recipe has one list of them for training and test; those that vary do so only in training. Random choices are
// addressed by (seed, epoch, sample, place in the list), so they depend on neither threads nor resuming.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isobar/base/random.hpp"
#include "isobar/base/row.hpp"
#include "isobar/data/dataset.hpp"

namespace isobar::transforms {

/// The occasion of applying a transform: whether it may vary, and the numbers it then draws.
struct Draw {
  bool training = false;
  Random random;
};

class Transform {
 public:
  virtual ~Transform() = default;

  /// The shape of what comes out of x of this shape; one that cannot be transformed is an Error.
  virtual Shape infer(const Shape& x) const { return x; }
  /// Writes the transformed numbers of `x`, shaped `shape`. When the shape does not change, x and out are the same
  /// memory. May be called from many threads at once.
  virtual void apply(const Shape& shape, std::span<const float> x, std::span<float> out, const Draw& draw) const = 0;

  /// Whether numbers change their places, so that targets with places of their own would no longer fit.
  virtual bool moves() const { return false; }

  /// What it must know of the training set before it can be applied: empty until learned; null when it needs nothing.
  virtual std::vector<float>* learned() { return nullptr; }
  /// Learns from the training set as it is before this transform, reading with `threads`, which change no bit.
  virtual void learn(const data::Dataset& before, int threads) { (void)before, (void)threads; }
};

Table<Row<Transform>> transforms();

}  // namespace isobar::transforms
