#include "isobar/machine/parts.hpp"

#include <fmt/format.h>

namespace isobar::machine {

std::string describe(std::span<const BuiltPart> parts) {
  std::string text;
  for (const BuiltPart& part : parts)
    text += fmt::format("  {:<14} {}{}\n", part.name, part.built ? "" : "missing: ", part.text);
  return text;
}

}  // namespace isobar::machine
