// The wire format of protocol buffers, read and written field by field: just what the few small messages of data files
// need. Views point into the bytes that are read; nothing is copied. Generated messages belong to room onnx.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace isobar::files {

/// One field of a message.
struct WireField {
  enum class Kind { varint, fixed64, bytes, fixed32 } kind = Kind::varint;
  std::uint32_t number = 0;
  std::uint64_t value = 0;                ///< of a number, as its bits
  std::span<const std::uint8_t> bytes{};  ///< of bytes, texts, messages and packed lists
};

/// Goes through the fields of a message in the order in which they are stored.
class WireReader {
 public:
  explicit WireReader(std::span<const std::uint8_t> message) : rest_(message) {}

  /// Reads the next field; false at the end. A damaged message is an Error.
  bool next(WireField& field);
  /// Reads a number of variable length from a packed list.
  std::uint64_t varint();
  bool at_end() const { return rest_.empty(); }

 private:
  std::uint64_t fixed(std::size_t bytes);

  std::span<const std::uint8_t> rest_;
};

/// Builds a message.
class WireWriter {
 public:
  void varint(std::uint32_t number, std::uint64_t value);
  void single(std::uint32_t number, float value);
  void real(std::uint32_t number, double value);
  void bytes(std::uint32_t number, std::span<const std::uint8_t> value);
  void text(std::uint32_t number, std::string_view value);
  void message(std::uint32_t number, const WireWriter& value) { bytes(number, value.message_); }
  /// A packed list of floats, of doubles, or of integers.
  void floats(std::uint32_t number, std::span<const float> values);
  void reals(std::uint32_t number, std::span<const double> values);
  void integers(std::uint32_t number, std::span<const std::int64_t> values);

  std::span<const std::uint8_t> message() const { return message_; }
  void clear() { message_.clear(); }

 private:
  void put(std::uint64_t value);
  void put_fixed(std::uint64_t value, int bytes);
  void head(std::uint32_t number, WireField::Kind kind);

  std::vector<std::uint8_t> message_;
};

}  // namespace isobar::files
