// Stored tensors: from little-endian bytes to numbers and back, for every element type of ONNX that is a number.
#include <bit>
#include <cmath>
#include <cstring>

#include "isobar/base/error.hpp"
#include "isobar/base/float16.hpp"
#include "isobar/onnx/model.hpp"

namespace isobar::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and so is every machine we run on");

// Calls use(element) for every element of the bytes, as its own C++ type.
template <class Use>
void for_elements(const StoredTensor& s, Use use) {
  const auto as = [&]<class T>(T, auto turn) {
    for (std::size_t at = 0; at + sizeof(T) <= s.bytes.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, s.bytes.data() + at, sizeof(T));
      use(turn(element));
    }
  };
  const auto same = [](auto v) { return v; };
  switch (s.type) {
    case Type::float32: return as(float{}, same);
    case Type::float64: return as(double{}, same);
    case Type::float16: return as(Float16{}, same);
    case Type::bfloat16: return as(BFloat16{}, same);
    case Type::uint8: return as(std::uint8_t{}, same);
    case Type::int8: return as(std::int8_t{}, same);
    case Type::uint16: return as(std::uint16_t{}, same);
    case Type::int16: return as(std::int16_t{}, same);
    case Type::int32: return as(std::int32_t{}, same);
    case Type::int64: return as(std::int64_t{}, same);
    case Type::uint32: return as(std::uint32_t{}, same);
    case Type::uint64: return as(std::uint64_t{}, same);
    case Type::boolean: return as(std::uint8_t{}, [](std::uint8_t v) { return v != 0; });
    case Type::undefined:
    case Type::text:
    case Type::complex64:
    case Type::complex128: break;
  }
  fail("tensors of {} are not supported; valid: numbers and booleans", type_name(s.type));
}

template <class T>
void append(std::string& bytes, T element) {
  bytes.append(reinterpret_cast<const char*>(&element), sizeof(T));
}

// Numbers beyond the range of T are clamped to it.
template <class T>
T whole_number(double value) {
  if (!(value > static_cast<double>(std::numeric_limits<T>::lowest()))) return std::numeric_limits<T>::lowest();
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

void append(std::string& bytes, Type type, double v) {
  switch (type) {
    case Type::float32: return append(bytes, static_cast<float>(v));
    case Type::float64: return append(bytes, v);
    case Type::float16: return append(bytes, Float16(v));
    case Type::bfloat16: return append(bytes, BFloat16(v));
    case Type::uint8: return append(bytes, whole_number<std::uint8_t>(v));
    case Type::int8: return append(bytes, whole_number<std::int8_t>(v));
    case Type::uint16: return append(bytes, whole_number<std::uint16_t>(v));
    case Type::int16: return append(bytes, whole_number<std::int16_t>(v));
    case Type::int32: return append(bytes, whole_number<std::int32_t>(v));
    case Type::int64: return append(bytes, whole_number<std::int64_t>(v));
    case Type::uint32: return append(bytes, whole_number<std::uint32_t>(v));
    case Type::uint64: return append(bytes, whole_number<std::uint64_t>(v));
    case Type::boolean: return append(bytes, static_cast<std::uint8_t>(v != 0));
    case Type::undefined:
    case Type::text:
    case Type::complex64:
    case Type::complex128: break;
  }
  fail("tensors of {} cannot be written", type_name(type));
}

// The number of elements actually present: dims of a tensor without content cannot be trusted.
std::size_t held(const StoredTensor& s) { return type_bytes(s.type) == 0 ? 0 : s.bytes.size() / type_bytes(s.type); }

}  // namespace

Array StoredTensor::array() const {
  Array a{type, dims};
  a.values.reserve(held(*this));
  for_elements(*this, [&](auto v) { a.values.push_back(static_cast<double>(v)); });
  return a;
}

std::vector<float> StoredTensor::floats() const {
  std::vector<float> list;
  list.reserve(held(*this));
  for_elements(*this, [&](auto v) { list.push_back(static_cast<float>(v)); });
  return list;
}

StoredTensor stored(const Array& array) {
  StoredTensor s{array.type, array.dims};
  for (const double v : array.values) append(s.bytes, array.type, v);
  return s;
}

StoredTensor stored(const Dims& dims, const std::vector<float>& values) {
  return {Type::float32, dims,
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))};
}

}  // namespace isobar::onnx
