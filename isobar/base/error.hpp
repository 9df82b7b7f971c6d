// Errors: the user or the machine is at fault -> Error; the call itself was wrong -> UsageError (exit code 2);
// the programmer is at fault -> expects(). Messages say what was attempted, with which value, and what would be valid.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace isobar {

/// Something the user or the machine caused; the message is one line, ready to be shown.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line, a recipe or a Spec is wrong; the program ends with exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Throws Error with a formatted message.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Throws UsageError with a formatted message.
template <class... Args>
[[noreturn]] void fail_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

/// States a precondition that only a mistake in this program can break.
inline void expects(bool condition, const char* what, std::source_location where = std::source_location::current()) {
  if (!condition) throw std::logic_error(fmt::format("{}:{}: expected {}", where.file_name(), where.line(), what));
}

}  // namespace isobar
