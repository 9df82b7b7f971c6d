#include "isobar/sim/phantom.hpp"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "isobar/base/descriptor.hpp"
#include "isobar/base/error.hpp"

namespace isobar::sim {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 24;

}  // namespace

PhantomFloats::PhantomFloats(std::size_t floats) : count_(floats) {
  bytes_ = (floats * sizeof(float) + chunk) / chunk * chunk;
  const Descriptor file(memfd_create("phantom", MFD_CLOEXEC));
  void* const place = ftruncate(*file, chunk) != 0
                          ? MAP_FAILED
                          : mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  bool good = place != MAP_FAILED;
  for (std::size_t at = 0; good && at < bytes_; at += chunk)
    good = mmap(static_cast<char*>(place) + at, chunk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, *file, 0) !=
           MAP_FAILED;
  if (!good) fail("simulation: {} bytes of address space cannot be reserved: {}", bytes_, std::strerror(errno));
  first_ = static_cast<float*>(place);
}

PhantomFloats::~PhantomFloats() { munmap(first_, bytes_); }

}  // namespace isobar::sim
