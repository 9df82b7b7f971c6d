#include "isobar/files/gzip.hpp"

#include <algorithm>
#include <cstring>
#include <libdeflate.h>
#include <new>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::files {
namespace {

constexpr std::size_t most_growth = 1032;  // of deflate: 258 bytes in two bits
constexpr std::size_t smallest_member = 18;

struct Free {
  void operator()(libdeflate_decompressor* made) const { libdeflate_free_decompressor(made); }
};

}  // namespace

std::span<std::uint8_t> ByteBuffer::take(std::size_t size) { return grow(size, 0); }

std::span<std::uint8_t> ByteBuffer::grow(std::size_t size, std::size_t kept) {
  expects(kept <= capacity_ && kept <= size, "to keep what is there");
  if (size > capacity_) {
    if (kept == 0) memory_.reset(), capacity_ = 0;
    auto larger = std::make_unique_for_overwrite<std::uint8_t[]>(size);
    if (kept > 0) std::memcpy(larger.get(), memory_.get(), kept);
    memory_ = std::move(larger);
    capacity_ = size;
  }
  return {memory_.get(), size};
}

bool is_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 3 && bytes[0] == 0x1F && bytes[1] == 0x8B && bytes[2] == 8;
}

std::span<const std::uint8_t> inflate_gzip(std::span<const std::uint8_t> file, std::int64_t max_bytes,
                                           ByteBuffer& out) {
  thread_local const std::unique_ptr<libdeflate_decompressor, Free> inflater(libdeflate_alloc_decompressor());
  if (!inflater) throw std::bad_alloc();
  if (!is_gzip(file)) fail("is not a gzip file");
  if (file.size() < smallest_member) fail("the gzip data is damaged or ends too early");
  const std::size_t limit = max_bytes;
  const std::size_t reachable = file.size() > limit / most_growth ? limit : file.size() * most_growth;
  // The last four bytes give the length of the last member, which in nearly all files is the only one.
  std::uint32_t told = 0;
  for (std::size_t i = 0; i < 4; ++i) told |= static_cast<std::uint32_t>(file[file.size() - 4 + i]) << 8 * i;
  std::size_t room = std::clamp<std::size_t>(told, 1, std::max<std::size_t>(reachable, 1));
  std::size_t used = 0, at = 0;
  while (at < file.size()) {
    const std::span<const std::uint8_t> rest = file.subspan(at);
    // Some writers fill the last block with zeros.
    if (at > 0 && std::ranges::all_of(rest, [](std::uint8_t b) { return b == 0; })) break;
    if (rest.size() < smallest_member || !is_gzip(rest))
      fail("{} bytes after the gzip data do not belong to it", rest.size());
    const std::span<std::uint8_t> to = out.grow(std::max(room, out.capacity()), used).subspan(used);
    std::size_t taken = 0, made = 0;
    const libdeflate_result result = libdeflate_gzip_decompress_ex(inflater.get(), rest.data(), rest.size(), to.data(),
                                                                   std::min(to.size(), limit - used), &taken, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE && room < reachable) {
      room = std::min(reachable, std::max(2 * room, used + 4 * rest.size()));
      continue;
    }
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
      fail("more than {} would be held in memory; max_gigabytes raises the limit", human_bytes(max_bytes));
    if (result != LIBDEFLATE_SUCCESS) fail("the gzip data is damaged or ends too early");
    used += made;
    at += taken;
  }
  return {out.grow(std::max(used, out.capacity()), used).data(), used};
}

}  // namespace isobar::files
