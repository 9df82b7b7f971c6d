// Transform: one change to a field of a sample between data set and network: crop, mirror, normalize, one_hot, ... A
// recipe has one list of them for training and test; those that vary do so only in training. Random choices depend on
// (seed, epoch, sample, position in the list) only, so neither on threads nor on resuming.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/base/random.hpp"
#include "isobar/base/row.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/tensor/box.hpp"

namespace isobar::transforms {

/// A field before or after a transform.
struct Grid {
  std::string name{};  ///< of the field: "x"
  Shape shape{};
  int places = 0;                       ///< number of leading axes that are space: rows and columns, or depth as well
  bool exact = false;                   ///< its numbers may be moved but never mixed, like those of classes
  std::vector<std::string> channels{};  ///< names along the last axis; may be empty
  std::vector<std::string> classes{};   ///< names of the classes its numbers stand for; may be empty
};

/// The circumstances in which a transform is applied: whether it may vary, and the numbers it then draws.
struct Draw {
  bool training = false;
  Random random;
};

/// What a transform is applied to: all of a field, or the part that is needed for some of its result.
struct Portion {
  const Grid& field;  ///< before the transform, as a whole
  const Box& from;    ///< the part of it that is given
  const Box& to;      ///< the part of the result that is wanted: all if all is given, or what source() was asked for
};

class Transform {
 public:
  virtual ~Transform() = default;

  /// The field after the transform; a field that cannot be transformed is an Error.
  virtual Grid infer(Grid field) const { return field; }
  /// The part of the field that determines `part` of the result, not empty, with this draw, or with any draw if `draw`
  /// is null; both may be cut along any axis. nullopt: all of the field is needed, and a part is cut from the whole
  /// result.
  virtual std::optional<Box> source(const Grid& field, const Box& part, const Draw* draw) const {
    (void)field, (void)part, (void)draw;
    return std::nullopt;
  }
  /// Writes the transformed numbers of `in`, exactly those that the whole field would give there. If the shape does not
  /// change and the transform works in place, `in` and `out` are the same memory. May be called from many threads at
  /// once.
  virtual void apply(const Portion& at, std::span<const float> in, std::span<float> out, const Draw& draw) const = 0;

  /// The field it is for, unless the recipe says `field=`.
  virtual std::string_view field() const { return "x"; }
  /// Whether numbers move: the transform then also acts, with the same draw, on all fields with the same places.
  virtual bool moves() const { return false; }
  /// Whether it can overwrite its input if the shape does not change.
  virtual bool in_place() const { return true; }

  /// What it must know about the training set before it can be applied: empty until learned; null if it needs nothing.
  virtual std::vector<float>* learned() { return nullptr; }
  /// Learns from a field of the training set as it is before this transform; `threads` does not change the result.
  virtual void learn(const datasets::Dataset& before, std::size_t field, int threads) {
    (void)before, (void)field, (void)threads;
  }
};

Table<Row<Transform>> transforms();

}  // namespace isobar::transforms
