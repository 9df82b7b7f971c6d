// Fourier transforms with FFTW, which is licensed under the GNU General Public License.
#include <mutex>

#include <fftw3.h>

#include "isobar/tensor/tensor.hpp"
#include "isobar/worlds/fft.hpp"

namespace isobar::worlds {
namespace {

fftwf_complex* raw(std::complex<float>* mode) { return reinterpret_cast<fftwf_complex*>(mode); }

// Held while FFTW plans: the planner is the only part that is not thread-safe.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

// "fftw-3.3.10-sse2-avx"
std::pair<std::string, std::string> fft_library() { return {"FFTW", fftwf_version}; }

struct CubeTransforms::Plans {
  fftwf_plan plane_to_modes, plane_to_space, lines_to_modes, lines_to_space;

  Plans(int n, int pitch) {
    const int plane[] = {n, n}, real[] = {n, 2 * pitch}, half[] = {n, pitch}, line[] = {n};
    const int stride = n * pitch, lines = n / 2 + 1;
    const Block memory(sizeof(std::complex<float>) * n * stride);
    auto* const space = reinterpret_cast<float*>(memory.data());
    auto* const modes = reinterpret_cast<fftwf_complex*>(memory.data());
    // FFTW_ESTIMATE: the plan, and so every rounding, must not depend on how busy the machine is.
    const unsigned flags = FFTW_ESTIMATE;
    const std::lock_guard lock(planner());
    plane_to_modes = fftwf_plan_many_dft_r2c(2, plane, 1, space, real, 1, 0, modes, half, 1, 0, flags);
    plane_to_space = fftwf_plan_many_dft_c2r(2, plane, 1, modes, half, 1, 0, space, real, 1, 0, flags);
    const auto plan_lines = [&](int sign) {
      return fftwf_plan_many_dft(1, line, lines, modes, nullptr, stride, 1, modes, nullptr, stride, 1, sign, flags);
    };
    lines_to_modes = plan_lines(FFTW_FORWARD);
    lines_to_space = plan_lines(FFTW_BACKWARD);
  }
  ~Plans() {
    const std::lock_guard lock(planner());
    for (fftwf_plan plan : {plane_to_modes, plane_to_space, lines_to_modes, lines_to_space}) fftwf_destroy_plan(plan);
  }
  Plans(const Plans&) = delete;
};

CubeTransforms::CubeTransforms(int size, int pitch) : plans_(std::make_unique<Plans>(size, pitch)) {}
CubeTransforms::~CubeTransforms() = default;

void CubeTransforms::plane_to_modes(float* plane) const {
  fftwf_execute_dft_r2c(plans_->plane_to_modes, plane, reinterpret_cast<fftwf_complex*>(plane));
}
void CubeTransforms::plane_to_space(float* plane) const {
  fftwf_execute_dft_c2r(plans_->plane_to_space, reinterpret_cast<fftwf_complex*>(plane), plane);
}
void CubeTransforms::lines_to_modes(std::complex<float>* first) const {
  fftwf_execute_dft(plans_->lines_to_modes, raw(first), raw(first));
}
void CubeTransforms::lines_to_space(std::complex<float>* first) const {
  fftwf_execute_dft(plans_->lines_to_space, raw(first), raw(first));
}

struct RowTransform::Plan {
  fftwf_plan to_space;

  explicit Plan(int width) {
    const Block modes((width / 2 + 1) * sizeof(std::complex<float>)), row(width * sizeof(float));
    const std::lock_guard lock(planner());
    // FFTW_UNALIGNED: results go straight to rows of any width.
    to_space = fftwf_plan_dft_c2r_1d(width, reinterpret_cast<fftwf_complex*>(modes.data()),
                                     reinterpret_cast<float*>(row.data()), FFTW_ESTIMATE | FFTW_UNALIGNED);
  }
  ~Plan() {
    const std::lock_guard lock(planner());
    fftwf_destroy_plan(to_space);
  }
  Plan(const Plan&) = delete;
};

RowTransform::RowTransform(int width) : plan_(std::make_unique<Plan>(width)) {}
RowTransform::~RowTransform() = default;

void RowTransform::to_space(std::complex<float>* modes, float* row) const {
  fftwf_execute_dft_c2r(plan_->to_space, raw(modes), row);
}

}  // namespace isobar::worlds
