// NumberType: how numbers are stored in files, and their conversion to floats and back. Bytes need no alignment.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isobar::files {

enum class NumberType { bool8, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32, float64 };

/// Bytes of one number.
std::size_t width_of(NumberType type);

/// "int16"; the names are those of NumPy, with "bool" for bool8.
std::string_view name_of(NumberType type);

/// The type with this name; nullopt for any other text.
std::optional<NumberType> number_type(std::string_view name);

/// All names, for messages.
std::vector<std::string> number_type_names();

/// Converts out.size() numbers; `bytes` holds exactly these numbers.
void to_floats(NumberType type, std::span<const std::uint8_t> bytes, std::endian order, std::span<float> out);

/// Converts to little-endian bytes. A number the type cannot hold is an Error that names it: for integers a fraction or
/// a value out of range, for float16 a value too large.
void from_floats(NumberType type, std::span<const float> numbers, std::span<std::uint8_t> bytes);

}  // namespace isobar::files
