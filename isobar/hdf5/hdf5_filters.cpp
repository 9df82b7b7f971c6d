#include "isobar/hdf5/hdf5_filters.hpp"

#include <cstring>
#include <libdeflate.h>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "isobar/files/gzip.hpp"

namespace isobar::hdf5 {
namespace {

using From = std::span<const std::byte>;
using To = std::span<std::byte>;
using FilterKind = Hdf5Filter::Kind;

constexpr std::size_t checksum_bytes = 4;

// Sums of 16-bit big-endian words, as HDF5 defines them; up to 360 words do not overflow 32 bits.
std::uint32_t fletcher32(From bytes) {
  std::uint32_t first = 0, second = 0;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  for (std::size_t words = bytes.size() / 2; words > 0;) {
    const std::size_t some = words < 360 ? words : 360;
    for (std::size_t i = 0; i < some; ++i, at += 2) {
      first += static_cast<std::uint32_t>(at[0]) << 8 | at[1];
      second += first;
    }
    words -= some;
    first = fold(first), second = fold(second);
  }
  if (bytes.size() % 2 != 0) {
    first += static_cast<std::uint32_t>(*at) << 8;
    second += first;
    first = fold(first), second = fold(second);
  }
  first = fold(first), second = fold(second);
  return second << 16 | first;
}

std::string check_fletcher32(From& bytes) {
  if (bytes.size() < checksum_bytes) return "too short for its checksum";
  const std::size_t body = bytes.size() - checksum_bytes;
  std::uint32_t stored;
  std::memcpy(&stored, bytes.data() + body, sizeof(stored));
  bytes = bytes.first(body);
  const std::uint32_t computed = fletcher32(bytes);
  // Early libraries swapped the bytes of each half on little-endian machines.
  const std::uint32_t turned = (stored & 0x00ff00ffu) << 8 | (stored & 0xff00ff00u) >> 8;
  return computed == stored || computed == turned ? "" : "its Fletcher-32 checksum is wrong";
}

std::string inflate(From from, To to) {
  struct Free {
    void operator()(libdeflate_decompressor* made) const { libdeflate_free_decompressor(made); }
  };
  static thread_local const std::unique_ptr<libdeflate_decompressor, Free> made(libdeflate_alloc_decompressor());
  if (!made) return "no memory to decompress it";
  std::size_t got = 0;
  switch (libdeflate_zlib_decompress(made.get(), from.data(), from.size(), to.data(), to.size(), &got)) {
    case LIBDEFLATE_SUCCESS: break;
    case LIBDEFLATE_INSUFFICIENT_SPACE: return fmt::format("decompresses to more than its {} bytes", to.size());
    default: return "its compressed data is corrupt";
  }
  return got == to.size() ? "" : fmt::format("decompresses to {} bytes in place of {}", got, to.size());
}

// LZF: a control byte below 32 announces that many + 1 literal bytes; any other has a length in its upper three bits
// (7: one more byte of length) and, with the next byte, the distance to copy from.
std::string expand_lzf(From from, To to) {
  std::size_t in = 0, out = 0;
  const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(from[at]); };
  while (in < from.size()) {
    const std::size_t control = byte(in++);
    if (control < 32) {
      const std::size_t count = control + 1;
      if (count > from.size() - in || count > to.size() - out) return "its compressed data is corrupt";
      std::memcpy(to.data() + out, from.data() + in, count);
      in += count, out += count;
      continue;
    }
    std::size_t count = control >> 5;
    if (count == 7 && in < from.size()) count += byte(in++);
    if (in >= from.size()) return "its compressed data is corrupt";
    const std::size_t back = ((control & 31) << 8 | byte(in++)) + 1;
    count += 2;
    if (back > out || count > to.size() - out) return "its compressed data is corrupt";
    for (std::size_t i = 0; i < count; ++i, ++out) to[out] = to[out - back];
  }
  return out == to.size() ? "" : fmt::format("decompresses to {} bytes in place of {}", out, to.size());
}

template <std::size_t size>
void gather(const std::byte* from, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < size; ++k) to[i * size + k] = from[k * count + i];
}

// All first bytes of the numbers come first, then all second ones; an incomplete number stays at the end.
void unshuffle(From from, To to, std::size_t size) {
  const std::size_t count = size > 1 ? from.size() / size : 0;
  if (size == 2) gather<2>(from.data(), to.data(), count);
  else if (size == 4) gather<4>(from.data(), to.data(), count);
  else if (size == 8) gather<8>(from.data(), to.data(), count);
  else
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < size; ++k) to[i * size + k] = from[k * count + i];
  const std::size_t done = count * size;
  std::memcpy(to.data() + done, from.data() + done, from.size() - done);
}

bool compresses(FilterKind kind) { return kind == FilterKind::deflate || kind == FilterKind::lzf; }
bool is_skipped(std::uint32_t skipped, std::size_t filter) { return filter < 32 && (skipped >> filter & 1) != 0; }

}  // namespace

bool can_expand(std::span<const Hdf5Filter> filters, std::uint32_t skipped, std::size_t stored, std::size_t expanded) {
  // Deflate expands a byte to at most 1032 bytes, LZF to 88.
  std::size_t most = stored;
  for (std::size_t f = 0; f < filters.size(); ++f)
    if (compresses(filters[f].kind) && !is_skipped(skipped, f) && __builtin_mul_overflow(most, 1032, &most))
      return true;
  return expanded <= most;
}

std::string undo_filters(std::span<const Hdf5Filter> filters, std::uint32_t skipped, From from, To to) {
  static thread_local files::ByteBuffer scratch[2];
  // Checksums that are still inside the decompressed data make it longer than the result.
  std::size_t inner = 0, left = 0;
  for (std::size_t f = 0; f < filters.size(); ++f)
    if (!is_skipped(skipped, f)) inner += filters[f].kind == FilterKind::fletcher32 ? checksum_bytes : 0, ++left;
  int next = 0;
  bool in_place = false;
  for (std::size_t f = filters.size(); f-- > 0;) {
    if (is_skipped(skipped, f)) continue;
    --left;
    if (filters[f].kind == FilterKind::fletcher32) {
      if (const std::string wrong = check_fletcher32(from); !wrong.empty()) return wrong;
      inner -= checksum_bytes;
      continue;
    }
    const std::size_t size = compresses(filters[f].kind) ? to.size() + inner : from.size();
    in_place = left == 0 && size == to.size();
    const To target = in_place ? to : std::as_writable_bytes(scratch[std::exchange(next, 1 - next)].take(size));
    if (filters[f].kind == FilterKind::shuffle) {
      unshuffle(from, target, filters[f].element);
    } else {
      const std::string wrong =
          filters[f].kind == FilterKind::deflate ? inflate(from, target) : expand_lzf(from, target);
      if (!wrong.empty()) return wrong;
    }
    from = target;
  }
  if (from.size() != to.size()) return fmt::format("has {} bytes in place of {}", from.size(), to.size());
  if (!in_place) std::memcpy(to.data(), from.data(), to.size());
  return "";
}

std::string_view hdf5_filter_name(int number) {
  constexpr std::pair<int, std::string_view> names[] = {
      {1, "gzip"},    {2, "shuffle"},       {3, "fletcher32"}, {4, "szip"},      {5, "nbit"},    {6, "scale-offset"},
      {305, "LZO"},   {307, "bzip2"},       {32000, "LZF"},    {32001, "Blosc"}, {32004, "LZ4"}, {32008, "bitshuffle"},
      {32013, "ZFP"}, {32015, "Zstandard"}, {32017, "SZ"},     {32026, "Blosc2"}};
  for (const auto& [known, name] : names)
    if (known == number) return name;
  return "";
}

}  // namespace isobar::hdf5
