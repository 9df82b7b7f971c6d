// The transform is divided by hand into planes (y, z) and lines (x), each computed by one thread: a library's own
// threads would choose another decomposition, and so other roundings, for another number of threads.
#include "isobar/worlds/mesh.hpp"

#include <omp.h>

#include "isobar/base/error.hpp"
#include "isobar/worlds/fft.hpp"

namespace isobar::worlds {

int thread_count(int threads) { return threads > 0 ? threads : omp_get_max_threads(); }

void each_part(int count, int threads, const std::function<void(int)>& work) {
#pragma omp parallel for schedule(static) num_threads(thread_count(threads))
  for (int i = 0; i < count; ++i) work(i);
}

Mesh::Mesh(int size) : size_(size) {
  expects(size >= 4 && (size & (size - 1)) == 0, "a mesh size that is a power of two, at least 4");
  memory_ = Block(static_cast<std::size_t>(size) * size * pitch() * sizeof(std::complex<float>));
}

Fourier::Fourier(int size, int threads)
    : size_(size),
      threads_(threads),
      transforms_(std::make_unique<CubeTransforms>(size, static_cast<int>(Mesh(size).pitch()))) {}
Fourier::~Fourier() = default;
Fourier::Fourier(Fourier&&) noexcept = default;

void Fourier::to_modes(const Mesh& mesh) const {
  expects(mesh.size() == size_, "a mesh of the planned size");
  const float scale = 1.0f / static_cast<float>(mesh.cells());
  each_part(size_, threads_, [&](int x) {
    for (int y = 0; y < size_; ++y) {
      float* space = mesh.row(x, y);
      for (int z = 0; z < size_; ++z) space[z] *= scale;
    }
    transforms_->plane_to_modes(mesh.row(x, 0));
  });
  each_part(size_, threads_, [&](int y) { transforms_->lines_to_modes(mesh.modes(0, y)); });
}

void Fourier::to_space(const Mesh& mesh) const {
  expects(mesh.size() == size_, "a mesh of the planned size");
  each_part(size_, threads_, [&](int y) { transforms_->lines_to_space(mesh.modes(0, y)); });
  each_part(size_, threads_, [&](int x) { transforms_->plane_to_space(mesh.row(x, 0)); });
}

}  // namespace isobar::worlds
