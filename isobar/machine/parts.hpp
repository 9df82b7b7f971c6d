// The optional parts of this build: which were there when it was configured, and what brings those that were not. The
// list is made by cmake/parts.cmake.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace isobar::machine {

struct BuiltPart {
  std::string_view name;
  bool built;
  std::string_view text;  ///< what it is, or what is missing without it and which package brings it
};

/// The parts as they were told when the build was configured.
std::span<const BuiltPart> parts();

/// A line for each: "  LMDB           read and written"; a missing one says so.
std::string describe(std::span<const BuiltPart> parts);

}  // namespace isobar::machine
