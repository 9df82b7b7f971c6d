// A collection: "GCOL", version, three zero bytes, its size; then objects, each with a number (2 bytes), a reference
// count (2), four zero bytes and its size, followed by its bytes, padded to a multiple of 8. Object 0 is the free space
// at the end, whose size includes its own head.
#include "isobar/hdf5/hdf5_heap.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace isobar::hdf5 {
namespace {

constexpr std::int64_t none = -1, broken = -2;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26;  // of a heap; the library's own have 4096
constexpr std::size_t most_known_heaps = 4096;                // heaps remembered

bool read_at(int descriptor, std::int64_t address, std::span<std::uint8_t> to) {
  return pread(descriptor, to.data(), to.size(), address) == static_cast<ssize_t>(to.size());
}

bool begins_heap(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "GCOL", 4) == 0;
}

}  // namespace

std::int64_t Hdf5Heaps::highest(std::int64_t address) {
  std::array<std::uint8_t, 16> begin{};
  if (address < 0 || address > widths_.file_bytes - 16 || !read_at(descriptor_, address, begin) || !begins_heap(begin))
    return none;
  if (const auto known = highest_.find(address); known != highest_.end()) return known->second;
  if (highest_.size() >= most_known_heaps) highest_.clear();
  std::int64_t& result = highest_[address] = broken;

  const std::size_t lengths = widths_.lengths;
  const std::size_t head = 8 + lengths;
  const std::uint64_t size = hdf5_number(begin, 8, lengths);
  if (size < head || size > most_bytes || static_cast<std::int64_t>(size) > widths_.file_bytes - address) return broken;
  std::vector<std::uint8_t> heap(size);
  if (!read_at(descriptor_, address, heap)) return broken;
  std::uint64_t last = 0;
  for (std::size_t at = head; at + head <= heap.size();) {
    const std::uint64_t number = hdf5_number(heap, at, 2);
    const std::uint64_t content = hdf5_number(heap, at + 8, lengths);
    if (content > heap.size()) return broken;
    const std::uint64_t whole = number == 0 ? content : head + (content + 7) / 8 * 8;
    if (whole == 0 || whole > heap.size() - at) return broken;
    last = std::max(last, number);
    at += whole;
  }
  return result = last;
}

// "HEAP", version, three zero bytes, the size of its data, the offset of its first free space, its address.
bool Hdf5Heaps::sound_local(std::span<const std::uint8_t> bytes) const {
  const std::size_t width = widths_.lengths;
  if (widths_.addresses != 8 || bytes.size() < 16 + 2 * width || std::memcmp(bytes.data(), "HEAP", 4) != 0) return true;
  const std::uint64_t size = hdf5_number(bytes, 8, width);
  const std::uint64_t address = hdf5_number(bytes, 8 + 2 * width, 8);
  const std::uint64_t end = widths_.file_bytes - widths_.base;
  return size <= end && address <= end - size;
}

bool Hdf5Heaps::sound(std::int64_t address, std::span<const std::uint8_t> bytes) {
  return sound_local(bytes) && (!begins_heap(bytes) || highest(address) != broken);
}

bool Hdf5Heaps::sound_reference(const Hdf5Reference& reference) {
  if (widths_.addresses != 8 || reference.address >= static_cast<std::uint64_t>(widths_.file_bytes)) return true;
  const std::int64_t last = highest(widths_.base + static_cast<std::int64_t>(reference.address));
  return last == none || (last != broken && static_cast<std::int64_t>(reference.number) <= last);
}

}  // namespace isobar::hdf5
