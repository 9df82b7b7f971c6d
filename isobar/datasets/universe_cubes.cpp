#include "isobar/datasets/universe_cubes.hpp"

#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/datasets/counts.hpp"
#include "isobar/worlds/cut.hpp"

namespace isobar::datasets {

namespace {

int merged_mesh(int mesh, int merge) {
  if (merge < 1 || mesh % merge != 0) fail_usage("universe: merge = {} does not divide the mesh of {}", merge, mesh);
  return mesh / merge;
}

}  // namespace

UniverseCubes::UniverseCubes(const worlds::UniverseOptions& options, int size, int merge)
    : family_(options),
      size_(size),
      merge_(merge),
      parts_(worlds::parts_in(merged_mesh(options.mesh, merge), size)),
      shape_{size, size, size, family_.channels()} {
  if (options.counting != worlds::Counting::histogram)
    fail_usage("universe: cubes are kept as whole numbers; only counting by histogram gives them");
}

void UniverseCubes::make(std::int64_t universe, std::span<std::int16_t> cubes) const {
  expects(std::ssize(cubes) == count(), "memory for all cubes of a universe");
  const int mesh = family_.options().mesh;
  std::vector<float> volume(family_.count());
  family_.make(universe, volume);
  if (merge_ > 1) volume = worlds::merge_cells(volume, mesh, family_.channels(), merge_);
  const std::size_t length = shape_.count();
  std::vector<float> cube(length);
  for (std::int64_t part = 0; part < parts_; ++part) {
    worlds::cut(volume, mesh / merge_, family_.channels(), size_, part, cube);
    pack_counts(cube, cubes.subspan(part * length, length));
  }
}

Spec UniverseCubes::settings() const {
  const worlds::UniverseOptions& options = family_.options();
  return Spec("universe", {{"size", size_},
                           {"mesh", options.mesh},
                           {"merge", merge_},
                           {"cell", options.cell},
                           {"scale_with_h0", options.scale_with_h0},
                           {"redshifts", std::vector<Value>(options.redshifts.begin(), options.redshifts.end())},
                           {"spread", options.spread},
                           {"seed", static_cast<std::int64_t>(options.seed)}});
}

}  // namespace isobar::datasets
