#include "isobar/files/datum.hpp"

#include <bit>

#include "isobar/base/error.hpp"
#include "isobar/files/wire.hpp"

namespace isobar::files {
namespace {

constexpr std::int64_t longest = 1 << 24;

// The field numbers of the message.
enum Fields : std::uint32_t { channels = 1, height, width, data, label, float_data, encoded };

WireWriter head(std::int64_t c, std::int64_t h, std::int64_t w) {
  WireWriter message;
  message.varint(channels, c);
  message.varint(height, h);
  message.varint(width, w);
  return message;
}

// Calls value(float) for each float, packed or not.
template <class F>
void visit_floats(std::span<const std::uint8_t> message, F value) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number != float_data) continue;
    if (field.kind == WireField::Kind::fixed32) value(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)));
    const std::span<const std::uint8_t> bytes = field.bytes;
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      std::uint32_t bits = 0;
      for (std::size_t k = 0; k < 4; ++k) bits |= static_cast<std::uint32_t>(bytes[i + k]) << 8 * k;
      value(std::bit_cast<float>(bits));
    }
  }
}

}  // namespace

Datum read_datum(std::span<const std::uint8_t> bytes) {
  Datum datum{.message = bytes};
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    const bool whole = field.kind == WireField::Kind::varint, list = field.kind == WireField::Kind::bytes;
    const std::int64_t value = field.value;
    if (field.number == channels && whole) datum.channels = value;
    else if (field.number == height && whole) datum.height = value;
    else if (field.number == width && whole) datum.width = value;
    else if (field.number == label && whole) datum.label = value;
    else if (field.number == encoded && whole) datum.encoded = value != 0;
    else if (field.number == data && list) datum.data = field.bytes;
    else if (field.number == float_data && list) datum.floats += field.bytes.size() / 4;
    else if (field.number == float_data && field.kind == WireField::Kind::fixed32) ++datum.floats;
    else fail("is not a Datum: it has an unknown field {}", field.number);
  }
  if (datum.encoded && !datum.data.empty()) return datum;
  for (const std::int64_t n : {datum.channels, datum.height, datum.width})
    if (n < 1 || n > longest)
      fail("is not a Datum: it has {} channels of {} x {} pixels", datum.channels, datum.height, datum.width);
  const auto held = std::ssize(datum.data);
  const std::int64_t plane = datum.height * datum.width;  // below 2^48
  const bool fits = plane <= longest * 64 &&
                    (held == plane * datum.channels || (held == 0 && datum.floats == plane * datum.channels));
  if (!fits)
    fail("a Datum of {} x {} x {} holds {} bytes and {} floats", datum.channels, datum.height, datum.width, held,
         datum.floats);
  return datum;
}

void Datum::pixels(std::span<float> out) const {
  const std::size_t plane = height * width, all = channels;
  expects(!encoded && out.size() == plane * all, "memory for the planes of a Datum");
  if (!data.empty()) {
    for (std::size_t c = 0; c < all; ++c)
      for (std::size_t p = 0; p < plane; ++p) out[p * all + c] = static_cast<float>(data[c * plane + p]);
    return;
  }
  std::size_t at = 0;
  visit_floats(message, [&](float value) {
    if (at < out.size()) out[at % plane * all + at / plane] = value;
    ++at;
  });
}

std::vector<std::uint8_t> datum_of_bytes(std::int64_t c, std::int64_t h, std::int64_t w, std::int64_t of,
                                         std::span<const std::uint8_t> planes) {
  WireWriter message = head(c, h, w);
  message.bytes(data, planes);
  message.varint(label, of);
  return {message.message().begin(), message.message().end()};
}

std::vector<std::uint8_t> datum_of_floats(std::int64_t c, std::int64_t h, std::int64_t w, std::int64_t of,
                                          std::span<const float> planes) {
  WireWriter message = head(c, h, w);
  message.varint(label, of);
  message.floats(float_data, planes);
  return {message.message().begin(), message.message().end()};
}

}  // namespace isobar::files
