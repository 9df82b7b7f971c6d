// Two-dimensional convolutions of stride 1 by tiles: a tile of the image and the kernel are transformed, multiplied
// point by point (over all tiles and channels, this is one matrix product per point), and transformed back. Winograd
// and FFT differ only in the transform. The data gradient is the forward direction with turned weights; the weight
// gradient is the adjoint: transform the image and dz, multiply, transform back to the kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "isobar/ops/conv_methods.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors of 16 are passed in inline functions only

namespace isobar::ops {

inline constexpr int image_lanes = 16;

/// The same element of 16 neighbouring channels.
using Lanes = float __attribute__((vector_size(image_lanes * sizeof(float))));

/// Transforms of square tiles, the same for all channels. A spectrum has `parts` numbers per point (2: complex numbers,
/// the real parts of all points first).
class TileTransform {
 public:
  TileTransform(int kernel_edge, int result_edge, int point_count, int part_count)
      : kernel(kernel_edge), result(result_edge), points(point_count), parts(part_count) {}
  virtual ~TileTransform() = default;

  const int kernel, result;  ///< edges
  const int points, parts;
  int tile() const { return kernel + result - 1; }
  int numbers() const { return points * parts; }

  virtual void image(const Lanes* tile, Lanes* spectrum) const = 0;
  virtual void weights(const Lanes* kernel, Lanes* spectrum) const = 0;
  virtual void output(const Lanes* spectrum, Lanes* result) const = 0;
  virtual void output_adjoint(const Lanes* result, Lanes* spectrum) const = 0;
  virtual void weights_adjoint(const Lanes* spectrum, Lanes* kernel) const = 0;
};

/// Whether this convolution can be computed by tiles of kernels with this edge.
bool suits_tiles(const ConvCase& problem, Direction direction, int kernel);

/// The kernel for one direction of a convolution that suits_tiles().
Kernel conv_by_tiles(const Setting& setting, const ConvCase& problem, Direction direction,
                     std::shared_ptr<const TileTransform> transform);

/// Additions and multiplications of the matrix products, without those of the transforms.
double tile_work(const ConvCase& problem, Direction direction, const TileTransform& transform);

}  // namespace isobar::ops
