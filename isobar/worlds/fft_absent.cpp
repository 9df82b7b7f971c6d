// Used when no library for Fourier transforms was found: the universe and the atmosphere are not available.
#include "isobar/base/error.hpp"
#include "isobar/worlds/fft.hpp"

namespace isobar::worlds {
namespace {

[[noreturn]] void fail_without_fft() {
  fail(
      "making universes and atmospheres needs Fourier transforms, and this build has none; install libfftw3-dev or "
      "libkissfft-dev and build again");
}

}  // namespace

std::pair<std::string, std::string> fft_library() { return {"FFT", "none"}; }

struct CubeTransforms::Plans {};
CubeTransforms::CubeTransforms(int, int) { fail_without_fft(); }
CubeTransforms::~CubeTransforms() = default;
void CubeTransforms::plane_to_modes(float*) const {}
void CubeTransforms::plane_to_space(float*) const {}
void CubeTransforms::lines_to_modes(std::complex<float>*) const {}
void CubeTransforms::lines_to_space(std::complex<float>*) const {}

struct RowTransform::Plan {};
RowTransform::RowTransform(int) { fail_without_fft(); }
RowTransform::~RowTransform() = default;
void RowTransform::to_space(std::complex<float>*, float*) const {}

}  // namespace isobar::worlds
