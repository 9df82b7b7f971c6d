#include "isobar/feeding/pinned_arena.hpp"

#include <sys/mman.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::feeding {
namespace {

constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

PinnedArena::PinnedArena(const std::vector<std::size_t>& lengths) {
  bool fits = true;
  for (const std::size_t length : lengths) {
    offsets_.push_back(bytes_);
    std::size_t end;
    fits = fits && length < SIZE_MAX / 4 && !__builtin_add_overflow(bytes_, rounded_up(length, page), &end);
    if (fits) bytes_ = end;
  }
  if (bytes_ == 0 && fits) return;
  const std::size_t alignment = bytes_ >= huge_page ? huge_page : page;
  if (fits && !__builtin_add_overflow(rounded_up(bytes_, alignment), alignment, &mapped_)) {
    void* got = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got != MAP_FAILED) mapping_ = static_cast<std::byte*>(got);
  }
  if (!mapping_) fail("memory: {} for batches could not be allocated", human_bytes(bytes_));
  const auto address = reinterpret_cast<std::size_t>(mapping_);
  base_ = mapping_ + (rounded_up(address, alignment) - address);
  if (alignment == huge_page) madvise(base_, bytes_, MADV_HUGEPAGE);  // only advice: a refusal is not an error
  // Batches are written and read in turn for hours: being swapped out or moved between two steps costs a stall each
  // time. Locked on fault, not at once, so that readers, not this thread, decide where a page is placed.
  locked_ = mlock2(base_, bytes_, MLOCK_ONFAULT) == 0;
}

PinnedArena::~PinnedArena() {
  if (mapping_) munmap(mapping_, mapped_);
}

}  // namespace isobar::feeding
