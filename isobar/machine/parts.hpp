// The optional parts of this build: which were found when it was configured, and which packages provide the others.
// cmake/parts.cmake makes the list.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace isobar::machine {

struct BuiltPart {
  std::string_view name;
  bool built;
  std::string_view text;  ///< what it is, or what is missing without it and which package provides it
};

/// The parts as found when the build was configured.
std::span<const BuiltPart> parts();

/// A line for each part: "  LMDB           read and written", or that it is missing.
std::string describe(std::span<const BuiltPart> parts);

}  // namespace isobar::machine
