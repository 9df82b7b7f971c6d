// Colours for numbers and for classes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace isobar::pictures {

using Colour = std::array<std::uint8_t, 3>;

/// From dark blue over green to yellow, evenly in brightness (Viridis); `place` in [0, 1], what lies outside is cut.
/// NaN is grey.
Colour colour_at(float place);

/// A colour for a class: seven that stay apart for the colour-blind too (Okabe and Ito), and again from the first.
/// Class 0 is the background by habit and has none of its own: ask from 1 on.
Colour class_colour(std::int64_t number);

/// From `a` to `b`: `part` of the latter.
Colour mixed(Colour a, Colour b, float part = 0.5f);

/// "#1f77b4".
std::string hex(Colour colour);

}  // namespace isobar::pictures
