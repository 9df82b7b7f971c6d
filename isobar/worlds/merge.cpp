#include "isobar/worlds/merge.hpp"

#include <cstddef>

#include "isobar/base/error.hpp"

namespace isobar::worlds {

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
