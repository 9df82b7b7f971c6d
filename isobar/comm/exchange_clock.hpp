// ExchangeClock: adds up what sums cost one rank. Overlapping sums count once: from the first start to the last end.
#pragma once

#include "isobar/comm/reducer.hpp"

namespace isobar::comm {

class ExchangeClock {
 public:
  void begin(double now) {
    if (under_way_++ == 0) since_ = now;
    ++cost_.sums;
  }
  void end(double now) {
    if (--under_way_ == 0) cost_.busy_seconds += now - since_;
  }
  void waited(double seconds) { cost_.waited_seconds += seconds; }
  void moved(std::int64_t messages, std::int64_t bytes) {
    cost_.traffic.messages += messages;
    cost_.traffic.bytes += bytes;
  }
  ExchangeCost cost(double now) const {
    ExchangeCost cost = cost_;
    if (under_way_ > 0) cost.busy_seconds += now - since_;
    return cost;
  }

 private:
  ExchangeCost cost_;
  int under_way_ = 0;
  double since_ = 0;
};

}  // namespace isobar::comm
