#include "isobar/files/number_type.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/base/float16.hpp"
#include "isobar/files/stored_numbers.hpp"

namespace isobar::files {
namespace {

constexpr std::pair<NumberType, std::string_view> names[] = {
    {NumberType::bool8, "bool"},      {NumberType::int8, "int8"},       {NumberType::uint8, "uint8"},
    {NumberType::int16, "int16"},     {NumberType::uint16, "uint16"},   {NumberType::int32, "int32"},
    {NumberType::uint32, "uint32"},   {NumberType::int64, "int64"},     {NumberType::uint64, "uint64"},
    {NumberType::float16, "float16"}, {NumberType::float32, "float32"}, {NumberType::float64, "float64"}};

struct Truth {
  std::uint8_t bits;
};

template <class T>
T from_float(float number) {
  if constexpr (std::is_same_v<T, Float16>) {
    if (!Float16::holds(number)) fail("{} does not fit float16; valid: -65504 to 65504", number);
    return Float16(number);
  } else if constexpr (std::is_same_v<T, Truth>) {
    if (number != 0.0f && number != 1.0f) fail("{} is not a truth value; valid: 0 and 1", number);
    return {static_cast<std::uint8_t>(number != 0.0f)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number);
  } else {
    using Limits = std::numeric_limits<T>;
    // The power of two above the largest number is exact as a float; the largest number itself may not be.
    const float above = std::ldexp(1.0f, Limits::digits);
    if (!(number >= static_cast<float>(Limits::min()) && number < above) || number != std::nearbyint(number))
      fail("{} is no whole number from {} to {}", number, Limits::min(), Limits::max());
    return static_cast<T>(number);
  }
}

template <class T>
void narrow(std::span<const float> numbers, std::uint8_t* bytes) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const T value = from_float<T>(numbers[i]);
    std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
  }
}

// Calls `work` with a value of the C++ type that is stored in the file.
template <class F>
auto with_type(NumberType type, F work) {
  switch (type) {
    case NumberType::bool8: return work(Truth{});
    case NumberType::int8: return work(std::int8_t{});
    case NumberType::uint8: return work(std::uint8_t{});
    case NumberType::int16: return work(std::int16_t{});
    case NumberType::uint16: return work(std::uint16_t{});
    case NumberType::int32: return work(std::int32_t{});
    case NumberType::uint32: return work(std::uint32_t{});
    case NumberType::int64: return work(std::int64_t{});
    case NumberType::uint64: return work(std::uint64_t{});
    case NumberType::float16: return work(Float16{});
    case NumberType::float32: return work(float{});
    case NumberType::float64: break;
  }
  return work(double{});
}

}  // namespace

std::size_t width_of(NumberType type) {
  return with_type(type, [](auto value) { return sizeof(value); });
}

std::string_view name_of(NumberType type) { return names[static_cast<std::size_t>(type)].second; }

std::optional<NumberType> number_type(std::string_view name) {
  for (const auto& [type, known] : names)
    if (known == name) return type;
  return std::nullopt;
}

std::vector<std::string> number_type_names() {
  std::vector<std::string> list;
  for (const auto& [type, name] : names) list.emplace_back(name);
  return list;
}

void to_floats(NumberType type, std::span<const std::uint8_t> bytes, std::endian order, std::span<float> out) {
  expects(bytes.size() == out.size() * width_of(type), "as many bytes as the numbers have");
  if (out.empty()) return;
  const Stored stored = with_type(type, [&]<class T>(T) {
    const bool real = std::is_floating_point_v<T> || std::is_same_v<T, Float16>;
    return Stored{real ? Stored::Kind::real : Stored::Kind::whole, sizeof(T), std::is_signed_v<T>,
                  order == std::endian::big};
  });
  decoder<float>(stored)(std::as_bytes(bytes).data(), out.data(), out.size());
  if (type == NumberType::bool8)
    for (float& truth : out) truth = truth != 0.0f ? 1.0f : 0.0f;
}

void from_floats(NumberType type, std::span<const float> numbers, std::span<std::uint8_t> bytes) {
  expects(bytes.size() == numbers.size() * width_of(type), "as many bytes as the numbers have");
  with_type(type, [&]<class T>(T) { narrow<T>(numbers, bytes.data()); });
}

}  // namespace isobar::files
