// Handover: one value, in one letter, that goes from one rank of a circle to another, for send and receive.
#pragma once

#include "isobar/ops/seat.hpp"

namespace isobar::ops {

/// The messages of one letter of `count` numbers, as the sender or the receiver.
inline comm::Schedule letter(comm::Move::Kind kind, int peer, std::int64_t count) {
  return {{{kind, peer, {0, static_cast<std::size_t>(count)}}}};
}

/// The shape of a letter's memory.
inline Layout letter_layout(const Shape& shape) { return plain({shape.count()}); }

/// The first kernel of a letter that arrives: memory for it, in a temporary.
inline Kernel open_letter(const Shape& shape, int temporary) {
  Kernel kernel{"open", Category::communication, {}, {{{Slot::Kind::temp, temporary}, letter_layout(shape)}}};
  kernel.run = [](const Moment&, std::span<const dnnl::memory>) {};
  return kernel;
}

}  // namespace isobar::ops
