// GatherFlight: a flight that brings what every rank has to all, once round a ring. Lengths may differ; each rank knows
// its own, and a bound for all.
#pragma once

#include <deque>

#include "isobar/comm/flight.hpp"

namespace isobar::comm {

class GatherFlight final : public Flight {
 public:
  /// `blocks` holds as many bytes for every rank, in order, of which the first `lengths[rank]` count: the caller sets
  /// those of its own rank, the flight all others. All must outlive it.
  GatherFlight(Comm& comm, std::span<std::byte> blocks, std::span<std::size_t> lengths, int tag);

  bool advance() override;

 private:
  std::size_t places() const { return lengths_.size(); }
  /// The place that is so many after this rank's on the ring.
  std::size_t after(std::size_t steps) const { return (rank_ + steps) % places(); }
  std::span<std::byte> block(std::size_t place) const;
  bool take();

  Comm& comm_;
  std::span<std::byte> blocks_;
  std::span<std::size_t> lengths_;
  int tag_;
  std::size_t rank_, received_ = 0, sent_ = 0;
  bool receives_ = false;
  Ticket receive_;
  std::deque<Ticket> sends_;  // in the order in which they began
};

}  // namespace isobar::comm
