// FlowWalk: one rank's part of a schedule as flows, walked in the actor that calls, which does nothing else meanwhile.
// Numbers are encoded, sent and added if they are real, and otherwise in time only.
#pragma once

#include <string>
#include <vector>

#include "isobar/comm/schedule.hpp"
#include "isobar/sim/flow_world.hpp"

namespace isobar::sim {

class FlowWalk {
 public:
  /// Among `members` of the world; `rank` is the number among them. Walks of one name and number meet.
  FlowWalk(FlowWorld& world, std::vector<int> members, int rank, std::string name);

  /// Returns when this rank's part is done. Long moves cost their rank as many messages as they would take.
  void walk(const comm::Schedule& schedule, std::int64_t number, const comm::Numbers& numbers);
  /// Brings the bytes of every rank to all, once round a ring, and returns them by rank: `mine` is this rank's.
  std::vector<FlowPacket> gather(FlowPacket mine, std::int64_t number);

  /// The bytes that this rank will send.
  double bytes_sent(const comm::Schedule& schedule, const comm::Numbers& numbers) const;
  /// Sent so far; a move is one message.
  comm::Traffic traffic() const { return traffic_; }
  /// What a rank's thread of messages has to do takes time from its computing.
  SharedCore& core() { return world_.cores[member(rank_)]; }
  const std::vector<int>& members() const { return members_; }
  int rank() const { return rank_; }

 private:
  void begin_round(const comm::Round& round);
  void spend(double latency, double messages) const;
  simgrid::s4u::CommPtr send(int to, std::int64_t number, FlowPacket packet);
  void tell_sent(std::int64_t number, const comm::Move& move, const comm::Numbers& numbers) const;
  double latency_to(int peer) const { return world_.latency(member(rank_), member(peer)); }
  int member(int rank) const { return members_[rank]; }
  simgrid::s4u::Mailbox* mailbox(std::int64_t number, int from, int to) const;

  FlowWorld& world_;
  std::vector<int> members_;
  int rank_;
  std::string name_;
  comm::Traffic traffic_;
};

}  // namespace isobar::sim
