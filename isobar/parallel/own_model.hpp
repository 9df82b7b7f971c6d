// OwnModel: the weights of one rank of a strategy whose ranks differ between steps. They lie in the replica while the
// rank trains; while the replica holds the model that all are judged by, they are kept here.
#pragma once

#include <vector>

#include "isobar/exec/state_block.hpp"
#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

class OwnModel {
 public:
  /// The replica is about to hold other weights: keeps this rank's own.
  void set_aside(Replica& replica);
  /// The replica holds this rank's own weights again; nothing if it does anyway.
  void take_back(Replica& replica);
  bool is_aside() const { return aside_; }

  /// The weights, and the optimizer's slots, which stay in the replica, as checkpoints hold them of every rank.
  exec::StateBlocks state(Replica& replica, bool slots_differ);

 private:
  std::vector<float> kept_;
  bool aside_ = false;
  Chore copying_{Category::copy, "weights set aside"};
};

}  // namespace isobar::parallel
