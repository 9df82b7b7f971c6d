// Colours for numbers and for classes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace isobar::pictures {

using Colour = std::array<std::uint8_t, 3>;

/// From dark blue through green to yellow, with even steps of brightness (Viridis); `place` is clamped to [0, 1], and
/// NaN is grey.
Colour colour_at(float place);

/// The colour of a class: seven colours that colour-blind readers can tell apart (Okabe and Ito), then the first again.
/// Class 0 is the background by convention and has no colour; start from 1.
Colour class_colour(std::int64_t number);

/// A mixture of `a` and `b`; `part` is the share of `b`.
Colour mixed(Colour a, Colour b, float part = 0.5f);

/// "#1f77b4".
std::string hex(Colour colour);

}  // namespace isobar::pictures
