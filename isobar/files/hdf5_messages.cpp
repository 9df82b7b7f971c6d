// After the HDF5 File Format Specification 3.0: IV.A.1 (object headers), IV.A.2.i (layout), IV.A.2.m (attributes).
#include "isobar/files/hdf5_messages.hpp"

#include <algorithm>
#include <cstring>

namespace isobar::files {
namespace {

using Bytes = std::span<const std::uint8_t>;
using Visit = std::function<bool(Hdf5Reference)>;

std::uint64_t number_at(Bytes bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = std::min(bytes.size(), at + width); i-- > at;) value = value << 8 | bytes[i];
  return value;
}

bool begins(Bytes bytes, const char* mark) { return bytes.size() >= 4 && std::memcmp(bytes.data(), mark, 4) == 0; }

// A type of class 9, varying length, with elements of 16 bytes: length (4), address (8), number (4).
bool is_varying(Bytes type) {
  return type.size() >= 8 && (type[0] & 0x0f) == 9 && type[0] >> 4 >= 1 && type[0] >> 4 <= 4 &&
         number_at(type, 4, 4) == 16;
}

// How many values a space has: version, rank, flags, then in version 1 five zero bytes, in version 2 its kind; extents.
std::size_t values_in(Bytes space, std::size_t most) {
  if (space.size() < 4 || space[0] < 1 || space[0] > 2) return 0;
  if (space[0] == 2 && space[3] == 2) return 0;  // a space without values
  const std::size_t first = space[0] == 1 ? 8 : 4, rank = space[1];
  if (first + 8 * rank > space.size()) return 0;
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::uint64_t extent = number_at(space, first + 8 * axis, 8);
    if (extent == 0) return 0;
    count = extent > most / count ? most : count * static_cast<std::size_t>(extent);
  }
  return std::min(count, most);
}

// An attribute: version, flags, sizes of name, type and space, in version 3 the character set, then name, type, space
// and the values; in version 1 each is filled up to a multiple of 8.
bool visit_attribute(Bytes message, const Visit& visit) {
  if (message.size() < 8 || message[0] < 1 || message[0] > 3 || (message[0] > 1 && (message[1] & 1))) return true;
  const std::size_t unit = message[0] == 1 ? 8 : 1;
  const auto filled = [&](std::uint64_t size) { return (static_cast<std::size_t>(size) + unit - 1) / unit * unit; };
  const std::size_t type = (message[0] == 3 ? 9 : 8) + filled(number_at(message, 2, 2));
  const std::size_t type_size = filled(number_at(message, 4, 2));
  const std::size_t space_size = filled(number_at(message, 6, 2));
  const std::size_t values = type + type_size + space_size;
  if (values > message.size() || !is_varying(message.subspan(type, type_size))) return true;
  const std::size_t count = values_in(message.subspan(type + type_size, space_size), (message.size() - values) / 16);
  for (std::size_t at = values; at < values + 16 * count; at += 16) {
    const Hdf5Reference reference{number_at(message, at + 4, 8),
                                  static_cast<std::uint32_t>(number_at(message, at + 12, 4))};
    if (!visit(reference)) return false;
  }
  return true;
}

// Extents of chunks: none may be 0, the library divides by them. Versions 1 and 2: version, their number, class 2 for
// chunks, five zero bytes, in version 1 or with chunks an address, extents of 4 bytes. Version 3: version, class,
// number, address, extents. Version 4: version, class, flags, number, width of extents, extents.
bool sound_layout(Bytes message) {
  if (message.size() < 5) return true;
  const bool old = message[0] <= 2;
  if (message[0] > 4 || message[old ? 2 : 1] != 2) return true;
  const std::size_t count = message[0] == 4 ? message[3] : message[old ? 1 : 2];
  const std::size_t first = old ? 16 : message[0] == 3 ? 11 : 5, width = message[0] == 4 ? message[4] : 4;
  if (width < 1 || width > 8) return message[0] != 4;
  for (std::size_t i = 0; i < count && first + (i + 1) * width <= message.size(); ++i)
    if (number_at(message, first + i * width, width) == 0) return false;
  return true;
}

bool visit_message(std::uint64_t kind, Bytes message, const Visit& visit) {
  if (kind == 0x08) return sound_layout(message);
  return kind != 0x0c || visit_attribute(message, visit);
}

// Messages of an old header: type (2), size (2), flags, three zeros.
bool visit_old_messages(Bytes bytes, std::size_t at, const Visit& visit) {
  while (at + 8 <= bytes.size()) {
    const std::size_t size = static_cast<std::size_t>(number_at(bytes, at + 2, 2));
    const std::size_t end = std::min(bytes.size(), at + 8 + size);
    if (!visit_message(number_at(bytes, at, 2), bytes.subspan(at + 8, end - at - 8), visit)) return false;
    at = at + 8 + size;
  }
  return true;
}

// Messages of a new header: type, size (2), flags, and their place in the order of creation when that is kept.
bool visit_new_messages(Bytes bytes, std::size_t at, std::size_t head, const Visit& visit) {
  while (at + head <= bytes.size()) {
    const std::size_t size = static_cast<std::size_t>(number_at(bytes, at + 1, 2));
    const std::size_t end = std::min(bytes.size(), at + head + size);
    if (!visit_message(bytes[at], bytes.subspan(at + head, end - at - head), visit)) return false;
    at = at + head + size;
  }
  return true;
}

}  // namespace

bool sound_header(Bytes bytes, const Visit& visit) {
  if (begins(bytes, "OHDR") && bytes.size() >= 16) {
    const std::uint8_t flags = bytes[5];
    const std::size_t prefix =
        6 + (flags & 0x20 ? 16u : 0u) + (flags & 0x10 ? 4u : 0u) + (std::size_t{1} << (flags & 3));
    return visit_new_messages(bytes, prefix, flags & 4 ? 6 : 4, visit);
  }
  // A continuation does not say whether the order of creation is kept.
  if (begins(bytes, "OCHK")) return visit_new_messages(bytes, 4, 4, visit) && visit_new_messages(bytes, 4, 6, visit);
  // Nor does an old one say that it is a continuation.
  return visit_old_messages(bytes, 0, visit) && visit_old_messages(bytes, 16, visit);
}

bool sound_block(Bytes bytes, const Visit& visit) {
  for (std::size_t at = 4; at + 25 <= bytes.size(); ++at)
    if (bytes[at] == 3 && bytes[at + 1] <= 3 && bytes[at + 8] <= 1 && !visit_attribute(bytes.subspan(at), visit))
      return false;
  return true;
}

}  // namespace isobar::files
