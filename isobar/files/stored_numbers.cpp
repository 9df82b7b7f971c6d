#include "isobar/files/stored_numbers.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "isobar/base/float16.hpp"

namespace isobar::files {
namespace {

static_assert(std::endian::native == std::endian::little, "byte orders are told apart for little-endian machines");

template <std::size_t bytes>
using Word = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

template <class From, bool swapped>
From load(const std::byte* from) {
  Word<sizeof(From)> word;
  std::memcpy(&word, from, sizeof(word));
  if constexpr (swapped && sizeof(word) == 2) word = __builtin_bswap16(word);
  if constexpr (swapped && sizeof(word) == 4) word = __builtin_bswap32(word);
  if constexpr (swapped && sizeof(word) == 8) word = __builtin_bswap64(word);
  From value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

template <class To, class From>
To convert(From value) {
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_integral_v<From>) {
    if (std::cmp_less(value, Limits::min())) return Limits::min();
    if (std::cmp_greater(value, Limits::max())) return Limits::max();
    return static_cast<To>(value);
  } else {
    // 2^63 is not an int64, but the double nearest to the largest one: hence ">=".
    const auto wide = static_cast<double>(value);
    if (std::isnan(wide)) return 0;
    if (wide <= static_cast<double>(Limits::min())) return Limits::min();
    if (wide >= static_cast<double>(Limits::max())) return Limits::max();
    return static_cast<To>(wide);
  }
}

template <class From, class To, bool swapped>
void decode(const std::byte* from, To* to, std::size_t count) {
  if constexpr (std::is_same_v<From, To> && !swapped) {
    std::memcpy(to, from, count * sizeof(To));
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = convert<To>(load<From, swapped>(from + i * sizeof(From)));
  }
}

template <class From, class To>
Decoder<To> in_order(bool big_endian) {
  return big_endian && sizeof(From) > 1 ? &decode<From, To, true> : &decode<From, To, false>;
}

}  // namespace

std::string Stored::str() const {
  if (kind == Kind::other) return "";
  const char* const name = kind == Kind::real ? "float" : is_signed ? "int" : "uint";
  return fmt::format("{}{}{}", name, 8 * bytes, big_endian && bytes > 1 ? ", big-endian" : "");
}

template <class T>
Decoder<T> decoder(const Stored& stored) {
  const bool big = stored.big_endian;
  if (stored.kind == Stored::Kind::real) switch (stored.bytes) {
      case 2: return in_order<Float16, T>(big);
      case 4: return in_order<float, T>(big);
      case 8: return in_order<double, T>(big);
    }
  if (stored.kind == Stored::Kind::whole) switch (stored.bytes) {
      case 1: return stored.is_signed ? in_order<std::int8_t, T>(big) : in_order<std::uint8_t, T>(big);
      case 2: return stored.is_signed ? in_order<std::int16_t, T>(big) : in_order<std::uint16_t, T>(big);
      case 4: return stored.is_signed ? in_order<std::int32_t, T>(big) : in_order<std::uint32_t, T>(big);
      case 8: return stored.is_signed ? in_order<std::int64_t, T>(big) : in_order<std::uint64_t, T>(big);
    }
  return nullptr;
}

template <class T>
bool stored_as(const Stored& stored) {
  return stored.bytes == static_cast<int>(sizeof(T)) && (!stored.big_endian || sizeof(T) == 1) &&
         (std::is_floating_point_v<T> ? stored.kind == Stored::Kind::real
                                      : stored.kind == Stored::Kind::whole && stored.is_signed == std::is_signed_v<T>);
}

template Decoder<float> decoder(const Stored&);
template Decoder<double> decoder(const Stored&);
template Decoder<std::int16_t> decoder(const Stored&);
template Decoder<std::int32_t> decoder(const Stored&);
template Decoder<std::int64_t> decoder(const Stored&);
template Decoder<std::uint8_t> decoder(const Stored&);
template bool stored_as<float>(const Stored&);
template bool stored_as<double>(const Stored&);
template bool stored_as<std::int16_t>(const Stored&);
template bool stored_as<std::int32_t>(const Stored&);
template bool stored_as<std::int64_t>(const Stored&);
template bool stored_as<std::uint8_t>(const Stored&);

}  // namespace isobar::files
