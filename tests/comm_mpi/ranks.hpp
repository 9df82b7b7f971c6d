// Tests that run on all ranks of a world at the same time: every rank enters each test, in the same order.
#pragma once

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm_mpi/world.hpp"

namespace isobar::comm_mpi::tests {

/// The world the launcher started.
World& world();
inline comm::Comm& ranks() { return world().comm(); }

inline comm::Bytes pattern(std::size_t count, int seed) {
  comm::Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(seed) * 7);
  return bytes;
}

}  // namespace isobar::comm_mpi::tests
