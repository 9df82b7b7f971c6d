// A collection: "GCOL", version, three zero bytes, its size; then objects, each with a number (2 bytes), a count of
// references (2), four zero bytes and its size, followed by its bytes, filled up to a multiple of 8. Object 0 is the
// free room at the end, whose size includes its own head.
#include "isobar/files/hdf5_heap.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace isobar::files {
namespace {

bool read_at(int descriptor, std::int64_t address, std::span<std::uint8_t> to) {
  return pread(descriptor, to.data(), to.size(), static_cast<off_t>(address)) == static_cast<ssize_t>(to.size());
}

std::uint64_t little_endian(const std::uint8_t* from, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) value = value << 8 | from[i];
  return value;
}

}  // namespace

int hdf5_length_bytes(int descriptor, std::int64_t file_bytes) {
  constexpr std::array<std::uint8_t, 8> signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  std::array<std::uint8_t, 16> head{};
  // At the beginning, or behind a user block of 512 bytes, 1024, ...
  for (std::int64_t at = 0; at + 16 <= file_bytes; at = at == 0 ? 512 : 2 * at) {
    if (!read_at(descriptor, at, head)) break;
    if (!std::equal(signature.begin(), signature.end(), head.begin())) continue;
    const int bytes = head[8] < 2 ? head[14] : head[10];
    return bytes == 2 || bytes == 4 ? bytes : 8;
  }
  return 8;
}

bool sound_heap(int descriptor, std::int64_t file_bytes, int length_bytes, std::int64_t address,
                std::span<const std::uint8_t> bytes) {
  const std::size_t head = 8 + static_cast<std::size_t>(length_bytes);
  if (bytes.size() < head || std::memcmp(bytes.data(), "GCOL", 4) != 0) return true;
  constexpr std::uint64_t most = std::uint64_t{1} << 26;
  const std::uint64_t size = little_endian(bytes.data() + 8, length_bytes);
  if (size < head || size > most || static_cast<std::int64_t>(size) > file_bytes - address) return false;
  std::vector<std::uint8_t> heap(size);
  if (!read_at(descriptor, address, heap)) return false;
  for (std::size_t at = head; at + head <= heap.size();) {
    const std::uint64_t number = little_endian(&heap[at], 2);
    const std::uint64_t content = little_endian(&heap[at + 8], length_bytes);
    if (content > heap.size()) return false;
    const std::uint64_t whole = number == 0 ? content : head + (content + 7) / 8 * 8;
    if (whole == 0 || whole > heap.size() - at) return false;
    at += whole;
  }
  return true;
}

}  // namespace isobar::files
