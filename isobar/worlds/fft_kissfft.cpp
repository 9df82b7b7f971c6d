// Fourier transforms with KISS FFT: slower than FFTW, but under the BSD licence. Only its complex transforms are used:
// real transforms keep scratch memory in their plan, so threads could not share it. Instead, two real rows are
// transformed as one complex row.
#include "isobar/worlds/fft.hpp"

#include <algorithm>
#include <array>
#include <kiss_fft.h>
#include <vector>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

using Mode = std::complex<float>;

class Line {
 public:
  Line(int size, bool inverse) : plan_(kiss_fft_alloc(size, inverse ? 1 : 0, nullptr, nullptr)) {
    if (!plan_) fail("a Fourier transform of {} numbers cannot be planned: out of memory", size);
  }
  ~Line() { kiss_fft_free(plan_); }
  Line(const Line&) = delete;

  void operator()(const Mode* from, Mode* to) const {
    kiss_fft(plan_, reinterpret_cast<const kiss_fft_cpx*>(from), reinterpret_cast<kiss_fft_cpx*>(to));
  }

 private:
  kiss_fft_cfg plan_;
};

Mode times_i(Mode m) { return {-m.imag(), m.real()}; }

}  // namespace

std::pair<std::string, std::string> fft_library() { return {"KISS FFT", "float"}; }

struct CubeTransforms::Plans {
  int size, pitch;
  Line to_modes, to_space;

  Plans(int n, int row) : size(n), pitch(row), to_modes(n, false), to_space(n, true) {}

  // Lines that begin in neighbouring modes, `stride` modes from one number to the next.
  void lines(const Line& line, Mode* first, std::size_t stride) const {
    constexpr int at_once = 8;  // a cache line
    const std::size_t n = size;
    std::vector<Mode> in(n * at_once), out(n * at_once);
    for (int begin = 0; begin <= size / 2; begin += at_once) {
      const std::size_t count = std::min(at_once, size / 2 + 1 - begin);
      Mode* const here = first + begin;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < count; ++k) in[k * n + i] = here[i * stride + k];
      for (std::size_t k = 0; k < count; ++k) line(in.data() + k * n, out.data() + k * n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < count; ++k) here[i * stride + k] = out[k * n + i];
    }
  }

  // Two rows a and b as a + ib: the modes of a are the part of the result that is conjugate to its mirror image.
  void rows_to_modes(float* a, float* b, Mode* in, Mode* out) const {
    for (int i = 0; i < size; ++i) in[i] = {a[i], b[i]};
    to_modes(in, out);
    auto* const modes_a = reinterpret_cast<Mode*>(a);
    auto* const modes_b = reinterpret_cast<Mode*>(b);
    for (int k = 0; k <= size / 2; ++k) {
      const Mode here = out[k], mirrored = std::conj(out[(size - k) % size]);
      modes_a[k] = 0.5f * (here + mirrored);
      modes_b[k] = -0.5f * times_i(here - mirrored);
    }
  }

  void rows_to_space(float* a, float* b, Mode* in, Mode* out) const {
    const auto* const modes_a = reinterpret_cast<const Mode*>(a);
    const auto* const modes_b = reinterpret_cast<const Mode*>(b);
    // Modes that are real for real numbers: the imaginary part is ignored.
    for (const int k : {0, size / 2}) in[k] = {modes_a[k].real(), modes_b[k].real()};
    for (int k = 1; k < size / 2; ++k) {
      in[k] = modes_a[k] + times_i(modes_b[k]);
      in[size - k] = std::conj(modes_a[k]) + times_i(std::conj(modes_b[k]));
    }
    to_space(in, out);
    for (int i = 0; i < size; ++i) {
      a[i] = out[i].real();
      b[i] = out[i].imag();
    }
  }
};

CubeTransforms::CubeTransforms(int size, int pitch) : plans_(std::make_unique<Plans>(size, pitch)) {}
CubeTransforms::~CubeTransforms() = default;

void CubeTransforms::plane_to_modes(float* plane) const {
  std::vector<Mode> in(plans_->size), out(in.size());
  for (int y = 0; y < plans_->size; y += 2) {
    float* const row = plane + std::ptrdiff_t{2} * plans_->pitch * y;
    plans_->rows_to_modes(row, row + std::ptrdiff_t{2} * plans_->pitch, in.data(), out.data());
  }
  plans_->lines(plans_->to_modes, reinterpret_cast<Mode*>(plane), plans_->pitch);
}

void CubeTransforms::plane_to_space(float* plane) const {
  plans_->lines(plans_->to_space, reinterpret_cast<Mode*>(plane), plans_->pitch);
  std::vector<Mode> in(plans_->size), out(in.size());
  for (int y = 0; y < plans_->size; y += 2) {
    float* const row = plane + std::ptrdiff_t{2} * plans_->pitch * y;
    plans_->rows_to_space(row, row + std::ptrdiff_t{2} * plans_->pitch, in.data(), out.data());
  }
}

void CubeTransforms::lines_to_modes(Mode* first) const {
  plans_->lines(plans_->to_modes, first, static_cast<std::size_t>(plans_->size) * plans_->pitch);
}
void CubeTransforms::lines_to_space(Mode* first) const {
  plans_->lines(plans_->to_space, first, static_cast<std::size_t>(plans_->size) * plans_->pitch);
}

struct RowTransform::Plan {
  int width;
  Line line;
};

RowTransform::RowTransform(int width) : plan_(new Plan{width, {width, true}}) {}
RowTransform::~RowTransform() = default;

void RowTransform::to_space(Mode* modes, float* row) const {
  const int width = plan_->width;
  std::vector<Mode> in(width), out(in.size());
  in[0] = modes[0].real();
  for (int k = 1; 2 * k <= width; ++k) {
    in[k] = modes[k];
    in[width - k] = std::conj(modes[k]);
  }
  if (width % 2 == 0) in[width / 2] = modes[width / 2].real();
  plan_->line(in.data(), out.data());
  for (int i = 0; i < width; ++i) row[i] = out[i].real();
}

}  // namespace isobar::worlds
