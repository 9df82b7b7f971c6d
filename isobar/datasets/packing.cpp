#include "isobar/datasets/packing.hpp"

#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::datasets {

files::NumberType read_number_type(Args& args, std::string_view key, files::NumberType otherwise) {
  const std::string name = args.text(key, name_of(otherwise));
  const auto type = files::number_type(name);
  args.require(type.has_value(), fmt::format("{} = one of {}", key, join(files::number_type_names(), ", ")));
  return *type;
}

std::int64_t class_number(std::int64_t sample, float label, std::int64_t most) {
  if (!(label >= 0 && label <= static_cast<float>(most)) || label != std::nearbyint(label))
    fail("sample {}: label {} is no class; valid: 0 to {}", sample, label, most);
  return static_cast<std::int64_t>(label);
}

void pack_field(files::NumberType type, std::int64_t sample, const Field& field, std::span<const float> numbers,
                std::vector<std::uint8_t>& bytes) {
  expects(std::ssize(numbers) == field.shape.count(), "the numbers of the field");
  bytes.resize(numbers.size() * files::width_of(type));
  try {
    files::from_floats(type, numbers, bytes);
  } catch (const Error& error) {
    fail("sample {}: '{}' cannot be stored as {}: {}", sample, field.name, name_of(type), error.what());
  }
}

bool is_sound(const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  std::int64_t count = 1;
  for (const std::int64_t n : shape.extents()) {
    if (n < 1 || n > most / count) return false;
    count *= n;
  }
  return true;
}

Shape row_shape(const Shape& shape) {
  expects(shape.rank() > 0, "a first axis");
  if (shape.rank() == 1) return Shape{1};
  return Shape(std::vector<std::int64_t>(shape.extents().begin() + 1, shape.extents().end()));
}

std::int64_t limited(const std::filesystem::path& path, std::int64_t samples, std::int64_t found) {
  if (found == 0) fail("{}: there are no samples", path.string());
  if (samples > found) fail("{}: {} samples were requested, there are {}", path.string(), samples, found);
  return samples > 0 ? samples : found;
}

}  // namespace isobar::datasets
