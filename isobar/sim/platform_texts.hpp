// The platform files that are shipped, as text: made from isobar/sim/platforms by CMake.
#pragma once

#include <span>
#include <string_view>

namespace isobar::sim {

struct PlatformText {
  std::string_view name, text;
};

std::span<const PlatformText> platform_texts();

}  // namespace isobar::sim
