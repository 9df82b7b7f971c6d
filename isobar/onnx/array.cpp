// Element types of ONNX: their names, their sizes, and how each rounds a number.
#include "isobar/onnx/array.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isobar/base/error.hpp"
#include "isobar/base/float16.hpp"

namespace isobar::onnx {
namespace {

/// Truncates and keeps the lowest bits, like a conversion between integers; 0 if not finite.
double wrapped(double value, int bits, bool is_signed) {
  if (!std::isfinite(value)) return 0;
  const double range = std::ldexp(1.0, bits);
  double result = std::fmod(std::trunc(value), range);
  if (result < 0) result += range;
  // As uint64, a small negative number rounds up to 2^64, which uint64 cannot hold.
  if (result >= range && !is_signed) return std::nextafter(range, 0.0);
  return is_signed && result >= range / 2 ? result - range : result;
}

}  // namespace

bool is_floating(Type type) {
  return type == Type::float32 || type == Type::float64 || type == Type::float16 || type == Type::bfloat16;
}

bool is_integer(Type type) {
  switch (type) {
    case Type::uint8:
    case Type::int8:
    case Type::uint16:
    case Type::int16:
    case Type::int32:
    case Type::int64:
    case Type::uint32:
    case Type::uint64: return true;
    default: return false;
  }
}

std::string_view type_name(Type type) {
  static constexpr std::string_view names[] = {"undefined", "float32", "uint8",     "int8",       "uint16",  "int16",
                                               "int32",     "int64",   "text",      "boolean",    "float16", "float64",
                                               "uint32",    "uint64",  "complex64", "complex128", "bfloat16"};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(names) ? names[index] : "unknown";
}

std::size_t type_bytes(Type type) {
  switch (type) {
    case Type::uint8:
    case Type::int8:
    case Type::boolean: return 1;
    case Type::uint16:
    case Type::int16:
    case Type::float16:
    case Type::bfloat16: return 2;
    case Type::float32:
    case Type::int32:
    case Type::uint32: return 4;
    case Type::int64:
    case Type::uint64:
    case Type::float64:
    case Type::complex64: return 8;
    case Type::complex128: return 16;
    default: return 0;
  }
}

double stored_as(Type type, double value) {
  switch (type) {
    case Type::float32: return static_cast<double>(static_cast<float>(value));
    case Type::float16: return Float16(value);
    case Type::bfloat16: return BFloat16(value);
    case Type::uint8: return wrapped(value, 8, false);
    case Type::int8: return wrapped(value, 8, true);
    case Type::uint16: return wrapped(value, 16, false);
    case Type::int16: return wrapped(value, 16, true);
    case Type::uint32: return wrapped(value, 32, false);
    case Type::int32: return wrapped(value, 32, true);
    case Type::uint64: return wrapped(value, 64, false);
    case Type::int64:
      // Below 2^63 nothing wraps; adding the range would lose the last bits.
      return std::fabs(value) < std::ldexp(1.0, 63) ? std::trunc(value) : wrapped(value, 64, true);
    case Type::boolean: return value != 0 ? 1 : 0;
    default: return value;
  }
}

std::int64_t checked_count(const Dims& dims, std::string_view what) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : dims) {
    if (extent < 0 || extent > max_axis)
      fail("{}: extent {} of {} is not between 0 and {}", what, extent, dims_text(dims), max_axis);
    if (extent == 0) {
      empty = true;
    } else {
      if (count > max_elements / extent)
        fail("{}: {} has more than {} elements, the most one may have", what, dims_text(dims), max_elements);
      count *= extent;
    }
  }
  return empty ? 0 : count;
}

std::string dims_text(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

Shape graph_shape(const Dims& dims) { return dims.empty() ? Shape{1} : Shape(dims); }

Array zeros(Type type, Dims dims) {
  const std::int64_t count = checked_count(dims, "tensor");
  return {type, std::move(dims), std::vector<double>(count), true};
}

}  // namespace isobar::onnx
