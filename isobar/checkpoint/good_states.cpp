#include "isobar/checkpoint/good_states.hpp"

#include <utility>

namespace isobar::checkpoint {

void GoodStates::begin(const exec::ParamStore& store, const Position& position, const exec::StateBlocks& state) {
  take_snapshot(good_, store, position, state);
  newest_ = good_;
  taken_ = position.step;
}

void GoodStates::renew(const exec::ParamStore& store, const Position& position, const exec::StateBlocks& state) {
  std::swap(good_, newest_);
  take_snapshot(newest_, store, position, state);
  taken_ = position.step;
}

const Snapshot& GoodStates::go_back(const Position& position) {
  newest_ = good_;  // the steps after the newest copy were bad
  taken_ = position.step;
  return good_;
}

}  // namespace isobar::checkpoint
