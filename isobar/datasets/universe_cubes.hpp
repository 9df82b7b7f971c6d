// A family of universes cut into cubes of particle counts: the data set `universe` serves them from memory,
// write_universe() writes them to files. Sample s of a family is cube s mod parts of universe first + s / parts.
#pragma once

#include <cstdint>
#include <span>

#include "isobar/base/spec.hpp"
#include "isobar/tensor/shape.hpp"
#include "isobar/worlds/universe.hpp"

namespace isobar::datasets {

/// Makes whole universes as int16 cubes; may be used by several threads at once.
class UniverseCubes {
 public:
  /// `size` is the edge of a cube in cells. A cell counts the particles of `merge` mesh cells along each edge; size *
  /// merge must divide the mesh.
  UniverseCubes(const worlds::UniverseOptions& options, int size, int merge = 1);

  /// Cubes of one universe.
  std::int64_t parts() const { return parts_; }
  /// size x size x size x channels.
  const Shape& shape() const { return shape_; }
  /// Numbers in all cubes of one universe.
  std::int64_t count() const { return parts_ * shape_.count(); }
  const worlds::Universe& family() const { return family_; }

  /// Fills the cubes of one universe, one after the other.
  void make(std::int64_t universe, std::span<std::int16_t> cubes) const;

  /// Everything that determines the numbers, as a Spec to compare and to store with them.
  Spec settings() const;

 private:
  worlds::Universe family_;
  int size_, merge_;
  std::int64_t parts_;
  Shape shape_;
};

}  // namespace isobar::datasets
