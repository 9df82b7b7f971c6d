// Object headers of HDF5 files, checked before the library sees them: release 1.10 allocates as much memory as a
// header, or its continuation, claims to need. The driver checks every piece that the library reads; a piece does not
// say what it is, so the continuations that headers name are remembered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include "isobar/hdf5/hdf5_messages.hpp"

namespace isobar::hdf5 {

class Hdf5Headers {
 public:
  explicit Hdf5Headers(const Hdf5Widths& widths) : widths_(widths) {}

  /// Whether a piece of a header, read at `address`, is safe for the library: neither it nor a continuation it names is
  /// longer than the file, and all its messages are sound.
  bool sound(std::int64_t address, std::span<const std::uint8_t> bytes,
             const std::function<bool(Hdf5Reference)>& sound_reference);

 private:
  /// The size of a message's head: 8 bytes in old headers, 4 in new ones, or 6 where the order of creation is kept.
  struct Form {
    bool old = false;
    std::size_t head = 8;
  };
  bool sound_messages(std::span<const std::uint8_t> bytes, const Form& form,
                      const std::function<bool(Hdf5Reference)>& sound_reference);
  std::size_t continuation_bytes() const { return widths_.addresses + widths_.lengths; }
  bool note_continuation(std::span<const std::uint8_t> message, const Form& form);

  Hdf5Widths widths_;
  std::map<std::int64_t, Form> continuations_;  // by their offset in the file
};

}  // namespace isobar::hdf5
