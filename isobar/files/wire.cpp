#include "isobar/files/wire.hpp"

#include <bit>

#include "isobar/base/error.hpp"

namespace isobar::files {

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
    value |= static_cast<std::uint64_t>(rest_[i] & 0x7Fu) << 7 * i;
    if (rest_[i] < 0x80u) {
      rest_ = rest_.subspan(i + 1);
      return value;
    }
  }
  fail("the message is damaged: a number has no end");
}

std::uint64_t WireReader::fixed(std::size_t bytes) {
  if (rest_.size() < bytes) fail("the message is damaged: it ends inside a number");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(rest_[i]) << 8 * i;
  rest_ = rest_.subspan(bytes);
  return value;
}

bool WireReader::next(WireField& field) {
  if (rest_.empty()) return false;
  const std::uint64_t head = varint();
  if (head >> 3 == 0 || head >> 3 > 0x1FFFFFFFu) fail("the message is damaged: field number {}", head >> 3);
  field.number = head >> 3;
  field.bytes = {};
  switch (head & 7u) {
    case 0:
      field.kind = WireField::Kind::varint;
      field.value = varint();
      return true;
    case 1:
      field.kind = WireField::Kind::fixed64;
      field.value = fixed(8);
      return true;
    case 2: {
      field.kind = WireField::Kind::bytes;
      const std::uint64_t length = varint();
      if (length > rest_.size())
        fail("the message is damaged: {} bytes are announced, {} are left", length, rest_.size());
      field.bytes = rest_.first(length);
      rest_ = rest_.subspan(field.bytes.size());
      return true;
    }
    case 5:
      field.kind = WireField::Kind::fixed32;
      field.value = fixed(4);
      return true;
    default: fail("the message is damaged: field {} is of kind {}", field.number, head & 7u);
  }
}

void WireWriter::put(std::uint64_t value) {
  for (; value >= 0x80u; value >>= 7) message_.push_back(static_cast<std::uint8_t>(value | 0x80u));
  message_.push_back(static_cast<std::uint8_t>(value));
}

void WireWriter::put_fixed(std::uint64_t value, int bytes) {
  for (int b = 0; b < bytes; ++b) message_.push_back(static_cast<std::uint8_t>(value >> 8 * b));
}

void WireWriter::head(std::uint32_t number, WireField::Kind kind) {
  constexpr std::uint32_t codes[] = {0, 1, 2, 5};
  put(static_cast<std::uint64_t>(number) << 3 | codes[static_cast<int>(kind)]);
}

void WireWriter::varint(std::uint32_t number, std::uint64_t value) {
  head(number, WireField::Kind::varint);
  put(value);
}

void WireWriter::single(std::uint32_t number, float value) {
  head(number, WireField::Kind::fixed32);
  put_fixed(std::bit_cast<std::uint32_t>(value), 4);
}

void WireWriter::real(std::uint32_t number, double value) {
  head(number, WireField::Kind::fixed64);
  put_fixed(std::bit_cast<std::uint64_t>(value), 8);
}

void WireWriter::bytes(std::uint32_t number, std::span<const std::uint8_t> value) {
  head(number, WireField::Kind::bytes);
  put(value.size());
  message_.insert(message_.end(), value.begin(), value.end());
}

void WireWriter::text(std::uint32_t number, std::string_view value) {
  bytes(number, {reinterpret_cast<const std::uint8_t*>(value.data()), value.size()});
}

void WireWriter::floats(std::uint32_t number, std::span<const float> values) {
  head(number, WireField::Kind::bytes);
  put(4 * values.size());
  for (const float value : values) put_fixed(std::bit_cast<std::uint32_t>(value), 4);
}

void WireWriter::reals(std::uint32_t number, std::span<const double> values) {
  head(number, WireField::Kind::bytes);
  put(8 * values.size());
  for (const double value : values) put_fixed(std::bit_cast<std::uint64_t>(value), 8);
}

void WireWriter::integers(std::uint32_t number, std::span<const std::int64_t> values) {
  WireWriter list;
  for (const std::int64_t value : values) list.put(value);
  bytes(number, list.message_);
}

}  // namespace isobar::files
