// NumberType: how numbers lie in files, and their way to floats and back. Bytes need no alignment.
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

/// "int16"; the words are those of NumPy, with "bool" for bool8.
std::string_view name_of(NumberType type);

/// The type with a name; none for any other text.
std::optional<NumberType> number_type(std::string_view name);

/// All names, for messages.
std::vector<std::string> number_type_names();

/// Converts out.size() numbers; `bytes` holds exactly these.
void to_floats(NumberType type, std::span<const std::uint8_t> bytes, std::endian order, std::span<float> out);

/// Converts to little-endian bytes; a number the type cannot hold is an Error naming it: a fraction or too large for
/// whole numbers, too large for float16.
void from_floats(NumberType type, std::span<const float> numbers, std::span<std::uint8_t> bytes);

}  // namespace isobar::files
