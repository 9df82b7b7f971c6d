#include "isobar/machine/versions.hpp"

#include <gnu/libc-version.h>

#include <fmt/format.h>
#include <hdf5.h>
#include <hwloc.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "isobar/worlds/fft.hpp"

namespace isobar::machine {
namespace {

std::string compiler_text() {
#ifdef __clang__
  return __VERSION__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string dnnl_text() {
  const dnnl_version_t* v = dnnl_version();
  return fmt::format("{}.{}.{} ({})", v->major, v->minor, v->patch,
                     v->cpu_runtime == DNNL_RUNTIME_OMP ? "OpenMP" : "not OpenMP");
}

std::string hdf5_text() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

std::string hwloc_text() {
  const unsigned v = hwloc_get_api_version();
  return fmt::format("{}.{}.{}", v >> 16, v >> 8 & 0xff, v & 0xff);
}

}  // namespace

std::string program_version() { return ISOBAR_VERSION; }
std::string program_build() { return ISOBAR_BUILD; }

std::vector<std::pair<std::string, std::string>> versions() {
  return {{"build", program_build()},
          {"compiler", compiler_text()},
          {"oneDNN", dnnl_text()},
          {"HDF5", hdf5_text()},
          worlds::fft_library(),
          {"hwloc API", hwloc_text()},
          {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"glibc", gnu_get_libc_version()}};
}

bool optimised_build() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

}  // namespace isobar::machine
