// Flight: one sum under way on one rank, as a state machine that never waits, so that one thread can drive many.
// Route: a way to sum over all ranks, which makes flights.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "isobar/comm/reserved_tags.hpp"
#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

class NodeGroup;

class Flight {
 public:
  /// Withdraws what is not finished.
  virtual ~Flight() = default;
  /// Does what can be done without waiting; returns whether the sum is complete.
  virtual bool advance() = 0;
  /// The ranks it waits for; empty when that is not known.
  virtual std::vector<int> missing() const { return {}; }
};

/// Where the sums of a reducer are made.
struct Place {
  Comm& comm;  ///< all ranks; its messages are separate from all others
  std::span<float> memory;
  NodeGroup* node = nullptr;  ///< this rank's node, which shares the memory; null: routes are not those within nodes
};

class Route {
 public:
  virtual ~Route() = default;
  /// Begins a sum of numbers that travel as the codec has them; all ranks must begin the same sums, numbered in order.
  /// Called by the thread that starts sums.
  virtual std::unique_ptr<Flight> fly(std::int64_t number, Range range, const codec::Codec& codec) = 0;
  /// What it does, for reports: "ring".
  virtual std::string describe() const = 0;
};

/// Sums over all ranks, whatever their nodes, by an algorithm of all_reduces().
std::unique_ptr<Route> flat_route(const Place& place, const Spec& algorithm);

/// Sums within nodes through shared memory, and between nodes, lane by lane, by an algorithm of all_reduces().
std::unique_ptr<Route> node_route(const Place& place, const Spec& algorithm);

}  // namespace isobar::comm
