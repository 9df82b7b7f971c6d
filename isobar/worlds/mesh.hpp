// A periodic cube of numbers that is either in space or, in the same memory, in Fourier modes.
// In space: size^3 floats, rows along z. In modes: for every (x, y) the non-negative half along z, since the other half
// is its conjugate. A field is f(r) = sum over k of f_k exp(i k r), so amplitudes do not depend on the mesh.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>

#include "isobar/tensor/tensor.hpp"

namespace isobar::worlds {

class CubeTransforms;

/// Calls work(i) for every i in [0, count) on `threads` threads (0: as many as OpenMP gives); work must not throw.
void each_part(int count, int threads, const std::function<void(int)>& work);

/// The number of threads each_part would use.
int thread_count(int threads);

/// Memory of one field, not initialised; size is a power of two, at least 4.
class Mesh {
 public:
  explicit Mesh(int size);

  int size() const { return size_; }
  std::int64_t cells() const { return std::int64_t{size_} * size_ * size_; }

  /// The `size` numbers along z, when in space.
  float* row(int x, int y) const { return reinterpret_cast<float*>(modes(x, y)); }
  /// The size/2 + 1 modes along z, when in modes.
  std::complex<float>* modes(int x, int y) const {
    return reinterpret_cast<std::complex<float>*>(memory_.data()) + (std::int64_t{x} * size_ + y) * pitch();
  }
  /// Modes from one row to the next; even, so that every row has the alignment that FFTW planned for.
  std::int64_t pitch() const { return size_ / 2 + 2; }

  /// The signed wave number of index i along x or y.
  int wave(int i) const { return i <= size_ / 2 ? i : i - size_; }

  /// Calls f(nx, ny, nz, mode) for every stored mode; f must not depend on the order.
  template <class F>
  void each_mode(int threads, F f) const {
    each_part(size_, threads, [&](int x) {
      for (int y = 0; y < size_; ++y) {
        std::complex<float>* mode = modes(x, y);
        for (int z = 0; z <= size_ / 2; ++z) f(wave(x), wave(y), z, mode[z]);
      }
    });
  }

 private:
  int size_;
  Block memory_;
};

/// Transforms meshes of one size from space to modes and back; several threads may use it at once. Results have the
/// same bits for any number of threads.
class Fourier {
 public:
  explicit Fourier(int size, int threads = 0);
  ~Fourier();
  Fourier(Fourier&&) noexcept;

  void to_modes(const Mesh& mesh) const;
  void to_space(const Mesh& mesh) const;
  int size() const { return size_; }
  int threads() const { return threads_; }

 private:
  int size_, threads_;
  std::unique_ptr<CubeTransforms> transforms_;
};

}  // namespace isobar::worlds
