// Array: a tensor of an ONNX file outside the graph: constants, weights before they are placed, inputs and results of a
// whole model. Numbers of every type are stored as double, which is exact for integers below 2^53.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/tensor/shape.hpp"

namespace isobar::onnx {

/// Element types, numbered as in ONNX files.
enum class Type {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  text = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
};

bool is_floating(Type type);
bool is_integer(Type type);  ///< signed or unsigned whole numbers; not boolean
std::string_view type_name(Type type);
/// Bytes of one element in a file; 0 for text and undefined.
std::size_t type_bytes(Type type);
/// The number as an element of that type stores it: rounded to float or half, truncated and wrapped to an integer,
/// 0 or 1 for boolean.
double stored_as(Type type, double value);

using Dims = std::vector<std::int64_t>;

inline constexpr std::int64_t max_axis = std::int64_t{1} << 31;            ///< largest extent of one axis
inline constexpr std::int64_t max_elements = std::int64_t{1} << 38;        ///< of any value
inline constexpr std::int64_t max_known_elements = std::int64_t{1} << 26;  ///< of a value computed while importing

/// Number of elements; throws Error for a negative or huge extent or product. `what` names the tensor.
std::int64_t checked_count(const Dims& dims, std::string_view what);
/// "[2,3]".
std::string dims_text(const Dims& dims);
/// The shape it has in the graph: a scalar has one axis of extent 1.
Shape graph_shape(const Dims& dims);

/// Type, dims and, if `known`, the numbers in row-major order.
struct Array {
  Type type = Type::float32;
  Dims dims{};
  std::vector<double> values{};
  bool known = true;

  std::int64_t count() const { return checked_count(dims, "tensor"); }
  int rank() const { return std::ssize(dims); }
};

/// A known array of zeros.
Array zeros(Type type, Dims dims);

}  // namespace isobar::onnx
