// What the writers of formats share: the stored number type as an argument, and packing the numbers of a sample.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isobar/datasets/format.hpp"
#include "isobar/files/number_type.hpp"

namespace isobar::datasets {

/// Reads the argument `key`, the name of a number type such as "int16"; `otherwise` if it is absent.
files::NumberType read_number_type(Args& args, std::string_view key, files::NumberType otherwise);

/// A class number, which must be an integer from 0 to `most`; anything else is an Error that names the sample.
std::int64_t class_number(std::int64_t sample, float label, std::int64_t most);

/// The numbers of one field as little-endian bytes; one that does not fit is an Error that names sample and value.
void pack_field(files::NumberType type, std::int64_t sample, const Field& field, std::span<const float> numbers,
                std::vector<std::uint8_t>& bytes);

/// Whether a shape given by a user or a file is acceptable: extents are at least 1, and their product is at most 2^40.
bool is_sound(const Shape& shape);

/// The shape without its first axis; for a list of numbers, one number per sample.
Shape row_shape(const Shape& shape);

/// `found`, limited to the argument `samples`, where 0 means all; more than found is an Error that names `path`.
std::int64_t limited(const std::filesystem::path& path, std::int64_t samples, std::int64_t found);

}  // namespace isobar::datasets
