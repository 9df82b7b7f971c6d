// Reads members of JSON objects from files that may be damaged, old or foreign: a member that is missing, of another
// kind, or too large for its type gives the default.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace isobar::record {

/// A string or number of an object.
template <class T>
T member(const nlohmann::json& object, const char* key, T otherwise = {}) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<std::string>() : otherwise;
  } else if constexpr (std::is_integral_v<T>) {
    if (found->is_number_unsigned()) {
      const auto value = found->template get<std::uint64_t>();
      return std::in_range<T>(value) ? static_cast<T>(value) : otherwise;
    }
    if (found->is_number_integer()) {
      const auto value = found->template get<std::int64_t>();
      return std::in_range<T>(value) ? static_cast<T>(value) : otherwise;
    }
    if (!found->is_number()) return otherwise;
    const auto value = found->template get<double>();
    return value > -9e15 && value < 9e15 && std::in_range<T>(static_cast<std::int64_t>(value)) ? static_cast<T>(value)
                                                                                               : otherwise;
  } else {
    return found->is_number() ? found->template get<T>() : otherwise;
  }
}

/// The numeric members of an object within an object.
inline std::map<std::string, double> member_numbers(const nlohmann::json& object, const char* key) {
  std::map<std::string, double> numbers;
  if (!object.is_object() || !object.contains(key) || !object[key].is_object()) return numbers;
  for (const auto& [name, value] : object[key].items())
    if (value.is_number()) numbers[name] = value.get<double>();
  return numbers;
}

}  // namespace isobar::record
