#include "isobar/worlds/cut.hpp"

#include <algorithm>
#include <cstddef>

#include "isobar/base/error.hpp"

namespace isobar::worlds {

std::int64_t parts_in(int mesh, int part) {
  if (part < 1 || mesh < 1 || mesh % part != 0)
    fail_usage("cut: cubes with edge {} do not fill a cube with edge {}; the edge must divide {}", part, mesh, mesh);
  const std::int64_t along = mesh / part;
  return along * along * along;
}

void cut(std::span<const float> volume, int mesh, int channels, int part, std::int64_t index, std::span<float> out) {
  const std::int64_t parts = parts_in(mesh, part), along = mesh / part, length = std::int64_t{part} * channels;
  expects(index >= 0 && index < parts, "the number of a sub-cube");
  expects(std::int64_t(volume.size()) == std::int64_t{mesh} * mesh * mesh * channels, "a whole volume");
  expects(std::int64_t(out.size()) == length * part * part, "room for one sub-cube");
  const std::int64_t x0 = index / (along * along) * part, y0 = index / along % along * part, z0 = index % along * part;
  float* to = out.data();
  for (std::int64_t x = x0; x < x0 + part; ++x)
    for (std::int64_t y = y0; y < y0 + part; ++y, to += length)
      std::copy_n(volume.data() + ((x * mesh + y) * mesh + z0) * channels, length, to);
}

std::vector<float> merge_cells(std::span<const float> volume, int mesh, int channels, int factor) {
  expects(factor >= 1 && mesh % factor == 0, "a factor that divides the mesh");
  const std::size_t fine = mesh, width = channels, step = factor, coarse = fine / step;
  expects(volume.size() == fine * fine * fine * width, "a volume of mesh^3 x channels");
  std::vector<float> merged(coarse * coarse * coarse * width);
  const float* from = volume.data();
  for (std::size_t i = 0; i < fine; ++i)
    for (std::size_t j = 0; j < fine; ++j)
      for (std::size_t k = 0; k < fine; ++k) {
        float* const to = &merged[((i / step * coarse + j / step) * coarse + k / step) * width];
        for (std::size_t c = 0; c < width; ++c) to[c] += *from++;
      }
  return merged;
}

}  // namespace isobar::worlds
