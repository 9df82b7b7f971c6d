// Follows the HDF5 File Format Specification 3.0: IV.A.1 (object headers), IV.A.2.i (layout), IV.A.2.m (attributes).
#include "isobar/hdf5/hdf5_messages.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace isobar::hdf5 {
namespace {

using MessageBytes = std::span<const std::uint8_t>;
using Visit = std::function<bool(Hdf5Reference)>;

// A type of class 9, variable length, with elements of 16 bytes: length (4), address (8), number (4).
bool is_varying(MessageBytes type) {
  return type.size() >= 8 && (type[0] & 0x0f) == 9 && type[0] >> 4 >= 1 && type[0] >> 4 <= 4 &&
         hdf5_number(type, 4, 4) == 16;
}

// The number of values of a space: version, rank, flags, then five zero bytes (version 1) or its kind (version 2);
// extents.
std::size_t values_in(MessageBytes space, std::size_t most) {
  if (space.size() < 4 || space[0] < 1 || space[0] > 2) return 0;
  if (space[0] == 2 && space[3] == 2) return 0;  // a space without values
  const std::size_t first = space[0] == 1 ? 8 : 4, rank = space[1];
  if (first + 8 * rank > space.size()) return 0;
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::uint64_t extent = hdf5_number(space, first + 8 * axis, 8);
    if (extent == 0) return 0;
    count = extent > most / count ? most : count * static_cast<std::size_t>(extent);
  }
  return std::min(count, most);
}

// An attribute: version, flags, sizes of name, type and space, in version 3 the character set, then name, type, space
// and the values; in version 1 each is padded to a multiple of 8.
bool visit_attribute(MessageBytes message, const Visit& visit) {
  if (message.size() < 8 || message[0] < 1 || message[0] > 3 || (message[0] > 1 && (message[1] & 1))) return true;
  const std::size_t unit = message[0] == 1 ? 8 : 1;
  const auto filled = [&](std::uint64_t size) { return (static_cast<std::size_t>(size) + unit - 1) / unit * unit; };
  const std::size_t type = (message[0] == 3 ? 9 : 8) + filled(hdf5_number(message, 2, 2));
  const std::size_t type_size = filled(hdf5_number(message, 4, 2));
  const std::size_t space_size = filled(hdf5_number(message, 6, 2));
  const std::size_t values = type + type_size + space_size;
  if (values > message.size() || !is_varying(message.subspan(type, type_size))) return true;
  const std::size_t count = values_in(message.subspan(type + type_size, space_size), (message.size() - values) / 16);
  for (std::size_t at = values; at < values + 16 * count; at += 16) {
    const Hdf5Reference reference{hdf5_number(message, at + 4, 8),
                                  static_cast<std::uint32_t>(hdf5_number(message, at + 12, 4))};
    if (!visit(reference)) return false;
  }
  return true;
}

// Extents of chunks must not be 0, because the library divides by them. Versions 1 and 2: version, their number, class
// 2 for chunks, five zero bytes, in version 1 or with chunks an address, extents of 4 bytes. Version 3: version, class,
// number, address, extents. Version 4: version, class, flags, number, width of extents, extents.
bool sound_layout(MessageBytes message) {
  if (message.size() < 5) return true;
  const bool old = message[0] <= 2;
  if (message[0] > 4 || message[old ? 2 : 1] != 2) return true;
  const std::size_t count = message[0] == 4 ? message[3] : message[old ? 1 : 2];
  const std::size_t first = old ? 16 : message[0] == 3 ? 11 : 5, width = message[0] == 4 ? message[4] : 4;
  if (width < 1 || width > 8) return message[0] != 4;
  for (std::size_t i = 0; i < count && first + (i + 1) * width <= message.size(); ++i)
    if (hdf5_number(message, first + i * width, width) == 0) return false;
  return true;
}

}  // namespace

std::uint64_t hdf5_number(MessageBytes bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = std::min(bytes.size(), at + width); i-- > at;) value = value << 8 | bytes[i];
  return value;
}

Hdf5Widths hdf5_widths(int descriptor, std::int64_t file_bytes) {
  constexpr std::array<std::uint8_t, 8> signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  std::array<std::uint8_t, 16> head{};
  // The superblock is at the beginning, or after a user block of 512 bytes, 1024, ...
  for (std::int64_t at = 0; at + 16 <= file_bytes; at = at == 0 ? 512 : 2 * at) {
    if (pread(descriptor, head.data(), head.size(), at) != static_cast<ssize_t>(head.size())) break;
    if (!std::equal(signature.begin(), signature.end(), head.begin())) continue;
    const bool old = head[8] < 2;
    const auto width = [](int said) { return said == 2 || said == 4 ? said : 8; };
    return {at, width(old ? head[14] : head[10]), width(old ? head[13] : head[9]), file_bytes};
  }
  return {.file_bytes = file_bytes};
}

bool sound_message(std::uint64_t kind, MessageBytes message, const Visit& visit) {
  if (kind == 0x08) return sound_layout(message);
  return kind != 0x0c || visit_attribute(message, visit);
}

bool sound_block(MessageBytes bytes, const Visit& visit) {
  for (std::size_t at = 4; at + 25 <= bytes.size(); ++at)
    if (bytes[at] == 3 && bytes[at + 1] <= 3 && bytes[at + 8] <= 1 && !visit_attribute(bytes.subspan(at), visit))
      return false;
  return true;
}

}  // namespace isobar::hdf5
