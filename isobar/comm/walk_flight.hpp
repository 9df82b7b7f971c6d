// WalkFlight: a flight that is one walk of a schedule.
#pragma once

#include "isobar/comm/flight.hpp"
#include "isobar/comm/walk.hpp"

namespace isobar::comm {

class WalkFlight final : public Flight {
 public:
  explicit WalkFlight(Walk walk) : walk_(std::move(walk)) {}
  bool advance() override { return walk_.advance(); }

 private:
  Walk walk_;
};

}  // namespace isobar::comm
