// FlowTalks: the messages within passes of one rank, as flows: each talk is walked by an actor of its own while the
// rank computes.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>

#include "isobar/sim/flow_walk.hpp"
#include "isobar/sim/workload.hpp"

namespace isobar::sim {

class FlowTalks {
 public:
  /// Of rank `rank` of the world, which must outlive this.
  FlowTalks(FlowWorld& world, int rank) : world_(world), rank_(rank) {}
  ~FlowTalks();

  /// Begins the messages, or returns when they are over. What begins must outlive its end.
  void talk(const ops::Talk& talk);
  comm::ExchangeCost cost() const;

 private:
  FlowWalk& walk_in(const std::string& circle);

  FlowWorld& world_;
  int rank_;
  std::map<std::string, std::unique_ptr<FlowWalk>> walks_;                       // by circle
  std::map<std::pair<std::string, int>, simgrid::s4u::SemaphorePtr> under_way_;  // by circle and number
  double waited_seconds_ = 0;
};

}  // namespace isobar::sim
