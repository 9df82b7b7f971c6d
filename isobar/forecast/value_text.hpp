// Parses numbers that a user gave as text: throws UsageError that names their purpose if they are invalid or out of
// range.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "isobar/base/error.hpp"

namespace isobar::forecast {

template <class T>
T value_of(const std::string& text, const char* what, T least, T most) {
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(value >= least && value <= most))
    fail_usage("{}: '{}'; a number from {} to {} is needed", what, text, least, most);
  return value;
}

}  // namespace isobar::forecast
