// A collection: "GCOL", version, three zero bytes, its size; then objects, each with a number (2 bytes), a count of
// references (2), four zero bytes and its size, followed by its bytes, filled up to a multiple of 8. Object 0 is the
// free room at the end, whose size includes its own head. A reference: a length (4), the address of a collection (8),
// the number of an object (4).
#include "isobar/files/hdf5_heap.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace isobar::files {
namespace {

constexpr std::int64_t none = -1, broken = -2;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26;  // of a heap; the library makes them of 4096
constexpr std::size_t most_known = 4096;                      // heaps remembered

bool read_at(int descriptor, std::int64_t address, std::span<std::uint8_t> to) {
  return pread(descriptor, to.data(), to.size(), static_cast<off_t>(address)) == static_cast<ssize_t>(to.size());
}

std::uint64_t little_endian(const std::uint8_t* from, int bytes) {
  std::uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) value = value << 8 | from[i];
  return value;
}

// A type of class 9, varying length, with elements of 16 bytes: length, address, number.
bool begins_varying_type(const std::uint8_t* bytes) {
  return (bytes[0] & 0x0f) == 9 && bytes[0] >> 4 <= 4 && little_endian(bytes + 4, 4) == 16;
}

bool begins_heap(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "GCOL", 4) == 0;
}

}  // namespace

Hdf5Heaps::Hdf5Heaps(int descriptor, std::int64_t file_bytes) : descriptor_(descriptor), file_bytes_(file_bytes) {
  constexpr std::array<std::uint8_t, 8> signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  std::array<std::uint8_t, 16> head{};
  // The superblock lies at the beginning, or behind a user block of 512 bytes, 1024, ...
  for (std::int64_t at = 0; at + 16 <= file_bytes; at = at == 0 ? 512 : 2 * at) {
    if (!read_at(descriptor, at, head)) return;
    if (!std::equal(signature.begin(), signature.end(), head.begin())) continue;
    const bool old = head[8] < 2;
    const int lengths = old ? head[14] : head[10];
    length_bytes_ = lengths == 2 || lengths == 4 ? lengths : 8;
    wide_addresses_ = (old ? head[13] : head[9]) == 8;
    base_ = at;
    return;
  }
}

std::int64_t Hdf5Heaps::highest(std::int64_t address) {
  std::array<std::uint8_t, 16> begin{};
  if (address < 0 || address > file_bytes_ - 16 || !read_at(descriptor_, address, begin) || !begins_heap(begin))
    return none;
  if (const auto known = highest_.find(address); known != highest_.end()) return known->second;
  if (highest_.size() >= most_known) highest_.clear();
  std::int64_t& result = highest_[address] = broken;

  const std::size_t head = 8 + static_cast<std::size_t>(length_bytes_);
  const std::uint64_t size = little_endian(begin.data() + 8, length_bytes_);
  if (size < head || size > most_bytes || static_cast<std::int64_t>(size) > file_bytes_ - address) return broken;
  std::vector<std::uint8_t> heap(size);
  if (!read_at(descriptor_, address, heap)) return broken;
  std::uint64_t last = 0;
  for (std::size_t at = head; at + head <= heap.size();) {
    const std::uint64_t number = little_endian(&heap[at], 2);
    const std::uint64_t content = little_endian(&heap[at + 8], length_bytes_);
    if (content > heap.size()) return broken;
    const std::uint64_t whole = number == 0 ? content : head + (content + 7) / 8 * 8;
    if (whole == 0 || whole > heap.size() - at) return broken;
    last = std::max(last, number);
    at += whole;
  }
  return result = static_cast<std::int64_t>(last);
}

// "HEAP", version, three zero bytes, the size of its data, the first free place in it, its address.
bool Hdf5Heaps::sound_local(std::span<const std::uint8_t> bytes) const {
  const auto width = static_cast<std::size_t>(length_bytes_);
  if (!wide_addresses_ || bytes.size() < 16 + 2 * width || std::memcmp(bytes.data(), "HEAP", 4) != 0) return true;
  const std::uint64_t size = little_endian(&bytes[8], length_bytes_);
  const std::uint64_t address = little_endian(&bytes[8 + 2 * width], 8);
  const auto end = static_cast<std::uint64_t>(file_bytes_ - base_);
  return size <= end && address <= end - size;
}

bool Hdf5Heaps::sound(std::int64_t address, std::span<const std::uint8_t> bytes) {
  return sound_local(bytes) && (!begins_heap(bytes) || highest(address) != broken);
}

bool Hdf5Heaps::sound_references(std::span<const std::uint8_t> bytes) {
  if (!wide_addresses_) return true;
  // References follow the type that says what they are, soon, and one another; elsewhere numbers may look like one.
  constexpr std::size_t soon = 160;
  std::size_t announced = bytes.size();
  for (std::size_t at = 4; at + 12 <= bytes.size(); ++at) {
    if (begins_varying_type(&bytes[at - 4])) announced = at;
    if (announced > at || at - announced > soon) continue;
    const std::uint64_t length = little_endian(&bytes[at - 4], 4), address = little_endian(&bytes[at], 8);
    if (length == 0 || length > most_bytes || address < 48 || address >= static_cast<std::uint64_t>(file_bytes_))
      continue;
    const std::int64_t last = highest(base_ + static_cast<std::int64_t>(address));
    if (last == none) continue;
    if (last == broken || static_cast<std::int64_t>(little_endian(&bytes[at + 8], 4)) > last) return false;
    announced = at;
  }
  return true;
}

}  // namespace isobar::files
