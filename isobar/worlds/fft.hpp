// The interface to the library that computes Fourier transforms: fft_fftw.cpp, fft_kissfft.cpp or, without either
// library, fft_absent.cpp; CMake chooses one (ISOBAR_FFT). Transforms are not scaled. Each call runs on one thread, and
// several threads may call at once.
#pragma once

#include <complex>
#include <memory>
#include <string>
#include <utility>

namespace isobar::worlds {

/// The library's name and version.
std::pair<std::string, std::string> fft_library();

/// Transforms a cube of size^3 numbers in place, piece by piece. A row along z has `pitch` modes, of which the first
/// size/2 + 1 are used, or 2 * pitch floats, of which the first `size` are used.
class CubeTransforms {
 public:
  CubeTransforms(int size, int pitch);
  ~CubeTransforms();

  /// Transforms `size` consecutive rows along z and y.
  void plane_to_modes(float* plane) const;
  void plane_to_space(float* plane) const;
  /// Transforms the size/2 + 1 lines along x that begin in one row of the plane x = 0.
  void lines_to_modes(std::complex<float>* first) const;
  void lines_to_space(std::complex<float>* first) const;

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

/// Transforms the width/2 + 1 modes of a row to its numbers and overwrites the modes; any width.
class RowTransform {
 public:
  explicit RowTransform(int width);
  ~RowTransform();

  void to_space(std::complex<float>* modes, float* row) const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace isobar::worlds
