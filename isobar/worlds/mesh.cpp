// The transform is cut by hand into planes (y, z) and lines (x), each done whole by one thread: FFTW's own threads
// would choose another decomposition, and so other roundings, for another number of threads.
#include "isobar/worlds/mesh.hpp"

#include <omp.h>

#include <fftw3.h>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

fftwf_complex* raw(std::complex<float>* mode) { return reinterpret_cast<fftwf_complex*>(mode); }

}  // namespace

std::mutex& fourier_planner() {
  static std::mutex mutex;
  return mutex;
}

int thread_count(int threads) { return threads > 0 ? threads : omp_get_max_threads(); }

void each_part(int count, int threads, const std::function<void(int)>& work) {
#pragma omp parallel for schedule(static) num_threads(thread_count(threads))
  for (int i = 0; i < count; ++i) work(i);
}

Mesh::Mesh(int size) : size_(size) {
  expects(size >= 4 && (size & (size - 1)) == 0, "a mesh size that is a power of two, at least 4");
  memory_ = Block(static_cast<std::size_t>(size) * size * pitch() * sizeof(std::complex<float>));
}

struct Fourier::Plans {
  fftwf_plan plane_to_modes, plane_to_space, lines_to_modes, lines_to_space;

  explicit Plans(int n) {
    const Mesh example(n);
    const int pitch = static_cast<int>(example.pitch());
    const int plane[] = {n, n}, real[] = {n, 2 * pitch}, half[] = {n, pitch}, line[] = {n};
    const int stride = n * pitch, lines = n / 2 + 1;
    float* space = example.row(0, 0);
    fftwf_complex* modes = raw(example.modes(0, 0));
    // FFTW_ESTIMATE: the plan, and with it every rounding, must not depend on how busy the machine is.
    const unsigned flags = FFTW_ESTIMATE;
    const std::lock_guard lock(fourier_planner());
    plane_to_modes = fftwf_plan_many_dft_r2c(2, plane, 1, space, real, 1, 0, modes, half, 1, 0, flags);
    plane_to_space = fftwf_plan_many_dft_c2r(2, plane, 1, modes, half, 1, 0, space, real, 1, 0, flags);
    const auto plan_lines = [&](int sign) {
      return fftwf_plan_many_dft(1, line, lines, modes, nullptr, stride, 1, modes, nullptr, stride, 1, sign, flags);
    };
    lines_to_modes = plan_lines(FFTW_FORWARD);
    lines_to_space = plan_lines(FFTW_BACKWARD);
  }
  ~Plans() {
    const std::lock_guard lock(fourier_planner());
    for (fftwf_plan plan : {plane_to_modes, plane_to_space, lines_to_modes, lines_to_space}) fftwf_destroy_plan(plan);
  }
  Plans(const Plans&) = delete;
};

Fourier::Fourier(int size, int threads) : size_(size), threads_(threads), plans_(std::make_unique<Plans>(size)) {}
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
    fftwf_execute_dft_r2c(plans_->plane_to_modes, mesh.row(x, 0), raw(mesh.modes(x, 0)));
  });
  each_part(size_, threads_,
            [&](int y) { fftwf_execute_dft(plans_->lines_to_modes, raw(mesh.modes(0, y)), raw(mesh.modes(0, y))); });
}

void Fourier::to_space(const Mesh& mesh) const {
  expects(mesh.size() == size_, "a mesh of the planned size");
  each_part(size_, threads_,
            [&](int y) { fftwf_execute_dft(plans_->lines_to_space, raw(mesh.modes(0, y)), raw(mesh.modes(0, y))); });
  each_part(size_, threads_,
            [&](int x) { fftwf_execute_dft_c2r(plans_->plane_to_space, raw(mesh.modes(x, 0)), mesh.row(x, 0)); });
}

}  // namespace isobar::worlds
