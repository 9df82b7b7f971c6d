#include "isobar/comm/gather_flight.hpp"

namespace isobar::comm {

GatherFlight::GatherFlight(Comm& comm, std::span<std::byte> blocks, std::span<std::size_t> lengths, int tag)
    : comm_(comm), blocks_(blocks), lengths_(lengths), tag_(tag), rank_(static_cast<std::size_t>(comm.rank())) {
  expects(lengths.size() == static_cast<std::size_t>(comm.size()) && blocks.size() % lengths.size() == 0,
          "a block for every rank");
}

std::span<std::byte> GatherFlight::block(std::size_t place) const {
  const std::size_t bytes = blocks_.size() / places();
  return blocks_.subspan(place * bytes, bytes);
}

// The next block from the right neighbour; returns whether one has arrived.
bool GatherFlight::take() {
  if (received_ + 1 == places()) return false;
  const std::size_t place = after(received_ + 1);
  if (!receives_) receive_ = comm_.start_receive_at_most(static_cast<int>(after(1)), tag_, block(place));
  receives_ = !receive_.done();
  if (receives_) return false;
  lengths_[place] = receive_.bytes();
  ++received_;
  return true;
}

bool GatherFlight::advance() {
  for (bool moved = true; moved;) {
    moved = take();
    for (; sent_ + 1 < places() && sent_ <= received_; ++sent_) {
      const std::size_t place = after(sent_), left = after(places() - 1);
      sends_.push_back(comm_.start_send(static_cast<int>(left), tag_, block(place).first(lengths_[place])));
    }
    while (!sends_.empty() && sends_.front().done()) sends_.pop_front();
  }
  return received_ + 1 == places() && sent_ == received_ && sends_.empty();
}

}  // namespace isobar::comm
