#include "isobar/machine/parts.hpp"

#include <fmt/format.h>

namespace isobar::machine {

std::string describe(std::span<const Part> parts) {
  std::string text;
  for (const Part& part : parts)
    text += fmt::format("  {:<14} {}{}\n", part.name, part.built ? "" : "missing: ", part.text);
  return text;
}

}  // namespace isobar::machine
