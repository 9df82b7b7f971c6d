// The message of the error a call ends with, or "" when it does not fail.
#pragma once

#include <string>

#include "isobar/base/error.hpp"

namespace isobar {

template <class Call>
std::string failure(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace isobar
