#include "isobar/data/universe_cubes.hpp"

#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/data/counts.hpp"
#include "isobar/worlds/cut.hpp"

namespace isobar::data {

UniverseCubes::UniverseCubes(const worlds::UniverseOptions& options, int size)
    : family_(options),
      size_(size),
      parts_(worlds::parts_in(options.mesh, size)),
      shape_{size, size, size, family_.channels()} {
  if (options.counting != worlds::Counting::histogram)
    fail_usage("universe: cubes are kept as whole numbers; only counting by histogram gives them");
}

void UniverseCubes::make(std::int64_t universe, std::span<std::int16_t> cubes) const {
  expects(static_cast<std::int64_t>(cubes.size()) == count(), "memory for all cubes of a universe");
  std::vector<float> volume(cubes.size());
  family_.make(universe, volume);
  const auto length = static_cast<std::size_t>(shape_.count());
  std::vector<float> cube(length);
  for (std::int64_t part = 0; part < parts_; ++part) {
    worlds::cut(volume, family_.options().mesh, family_.channels(), size_, part, cube);
    pack_counts(cube, cubes.subspan(static_cast<std::size_t>(part) * length, length));
  }
}

Spec UniverseCubes::settings() const {
  const worlds::UniverseOptions& options = family_.options();
  return Spec("universe", {{"size", size_},
                           {"mesh", options.mesh},
                           {"cell", options.cell},
                           {"redshifts", std::vector<Value>(options.redshifts.begin(), options.redshifts.end())},
                           {"spread", options.spread},
                           {"seed", static_cast<std::int64_t>(options.seed)}});
}

}  // namespace isobar::data
