// What tests ask of errors: the message of the Error an action throws, and whether it says what it must.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::tests {

/// The message of the Error that `action` throws; "" and a failed test when it throws none.
template <class F>
std::string error_of(F action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace isobar::tests

/// Checks that a message holds a text, and shows the message when it does not.
#define EXPECT_HAS(message, part) EXPECT_TRUE(isobar::tests::contains(message, part)) << "message: " << (message)
