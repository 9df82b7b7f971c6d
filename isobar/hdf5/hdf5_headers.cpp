// Follows the HDF5 File Format Specification 3.0, IV.A.1 (object headers) and IV.A.2.q (continuations).
#include "isobar/hdf5/hdf5_headers.hpp"

#include <algorithm>
#include <cstring>

namespace isobar::hdf5 {
namespace {

using HeaderBytes = std::span<const std::uint8_t>;

constexpr std::size_t most_known_headers = 1 << 16;  // continuations remembered

bool begins(HeaderBytes bytes, const char* mark) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), mark, 4) == 0;
}

}  // namespace

// A continuation: its address and its length.
bool Hdf5Headers::note_continuation(HeaderBytes message, const Form& form) {
  const std::size_t addresses = widths_.addresses, lengths = continuation_bytes() - addresses;
  if (message.size() < continuation_bytes()) return true;  // cut off: the library reads the whole header next
  const std::uint64_t end = widths_.file_bytes - widths_.base;
  const std::uint64_t address = hdf5_number(message, 0, addresses), length = hdf5_number(message, addresses, lengths);
  if (length > end || address > end - length) return false;
  if (continuations_.size() >= most_known_headers) continuations_.clear();
  continuations_[widths_.base + static_cast<std::int64_t>(address)] = form;
  return true;
}

// Old messages begin with type (2 bytes), size (2), flags and three zeros; new ones with type, size (2), flags, and
// their place in the order of creation if that is kept.
bool Hdf5Headers::sound_messages(HeaderBytes bytes, const Form& form,
                                 const std::function<bool(Hdf5Reference)>& sound_reference) {
  for (std::size_t at = 0; at + form.head <= bytes.size();) {
    const std::uint64_t kind = form.old ? hdf5_number(bytes, at, 2) : bytes[at];
    const std::size_t size = hdf5_number(bytes, at + (form.old ? 2 : 1), 2);
    at += form.head;
    const HeaderBytes message = bytes.subspan(at, std::min(size, bytes.size() - at));
    if (kind == 0x10 && (size < continuation_bytes() || !note_continuation(message, form))) return false;
    if (!sound_message(kind, message, sound_reference)) return false;
    at += size;
  }
  return true;
}

bool Hdf5Headers::sound(std::int64_t address, HeaderBytes bytes,
                        const std::function<bool(Hdf5Reference)>& sound_reference) {
  if (const auto known = continuations_.find(address); known != continuations_.end()) {
    const Form form = known->second;
    if (form.old) return sound_messages(bytes, form, sound_reference);
    if (begins(bytes, "OCHK") && bytes.size() >= 8)  // the last four bytes are a checksum
      return sound_messages(bytes.subspan(4, bytes.size() - 8), form, sound_reference);
  }
  // The first read of a header takes 512 bytes, whatever its length: bytes after the header do not belong to it.
  const std::uint64_t end = widths_.file_bytes - std::min(address, widths_.file_bytes);
  if (begins(bytes, "OHDR") && bytes.size() >= 16) {
    const std::uint8_t flags = bytes[5];
    const std::size_t width = std::size_t{1} << (flags & 3);
    const std::size_t prefix = 6 + (flags & 0x20 ? 16u : 0u) + (flags & 0x10 ? 4u : 0u) + width;
    if (prefix > bytes.size()) return true;
    const std::uint64_t length = hdf5_number(bytes, prefix - width, width);
    if (length > end) return false;
    const HeaderBytes messages = bytes.subspan(prefix);
    return sound_messages(messages.first(std::min<std::size_t>(length, messages.size())),
                          {.old = false, .head = flags & 4 ? 6u : 4u}, sound_reference);
  }
  constexpr std::size_t old_prefix = 16;
  if (bytes.size() < old_prefix || bytes[0] != 1) return true;  // the library refuses it
  const std::uint64_t length = hdf5_number(bytes, 8, 4);
  if (length > end) return false;
  const HeaderBytes messages = bytes.subspan(old_prefix);
  return sound_messages(messages.first(std::min<std::size_t>(length, messages.size())), {.old = true, .head = 8},
                        sound_reference);
}

}  // namespace isobar::hdf5
