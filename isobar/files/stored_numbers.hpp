// How numbers are stored in a file, and their conversion: integers and floats of 1 to 8 bytes in both byte orders.
// Conversions are those of the HDF5 library: a value out of an integer's range becomes the nearest one in range,
// fractions are cut off.
#pragma once

#include <cstddef>
#include <string>

namespace isobar::files {

/// How the numbers of an array are stored.
struct Stored {
  enum class Kind { whole, real, other } kind = Kind::other;
  int bytes = 0;
  bool is_signed = false;
  bool big_endian = false;

  /// Whether every value it can hold fits an int16.
  bool fits_int16() const { return kind == Kind::whole && (bytes == 1 || (bytes == 2 && is_signed)); }
  /// "int16", "uint8", "float32", and ", big-endian" where that matters; "" for anything that is not a number.
  std::string str() const;
  bool operator==(const Stored&) const = default;
};

/// Converts `count` numbers at `from`, which need not be aligned.
template <class T>
using Decoder = void (*)(const std::byte* from, T* to, std::size_t count);

/// The conversion from a stored type to T, or null for an unsupported type. T: float, double, std::int16_t,
/// std::int32_t, std::int64_t, std::uint8_t.
template <class T>
Decoder<T> decoder(const Stored& stored);

/// Whether numbers of type T have the same bytes in memory as these have in the file.
template <class T>
bool stored_as(const Stored& stored);

}  // namespace isobar::files
