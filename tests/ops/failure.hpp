// The message of the error that a call throws, or "" if it does not fail.
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
