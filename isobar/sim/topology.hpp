// Topology: the network of a platform, built in SimGrid: nodes as hosts, routes as lists of links. SimGrid has one
// engine for a process, so there can be one Topology in the life of a process (in_child.hpp). Links have no latency in
// SimGrid, which would weigh shares by it; routes tell theirs, and whoever sends waits for it.
#pragma once

#include <unordered_map>
#include <vector>

#include "isobar/sim/platform.hpp"

namespace simgrid::s4u {
class Host;
class Link;
}  // namespace simgrid::s4u

namespace isobar::sim {

class Topology {
 public:
  /// `nodes` of the platform, the first ones of its order. More than it has are a UsageError. Without contention only
  /// the links of nodes are as slow as they are.
  Topology(const Platform& platform, int nodes, bool without_contention = false);
  Topology(const Topology&) = delete;

  bool without_contention() const { return without_contention_; }
  int nodes() const { return nodes_; }
  int links() const { return std::ssize(capacities_); }
  /// Bytes per second, with what routing and protocol leave of it. Links to and from a node are further limited by its
  /// injection rate; the link within a node has the rate between its ranks.
  double capacity(int link) const { return capacities_[link]; }
  /// The links from one node to another, by number, and returns the latency; the same node: the link within it.
  double route(int from, int to, std::vector<int>& links) const;
  simgrid::s4u::Host* host(int node) const { return hosts_[node]; }

 private:
  const Platform platform_;
  const int nodes_;
  const bool without_contention_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<double> capacities_;
  std::unordered_map<const simgrid::s4u::Link*, int> numbers_;
  void free_what_lies_between() const;

  mutable std::vector<simgrid::s4u::Link*> route_;  // of the last question, for its memory
};

}  // namespace isobar::sim
