#include "isobar/comm_mpi/mpi_transfer.hpp"

#include <algorithm>
#include <cstring>

#include "isobar/base/clock.hpp"
#include "isobar/comm/patience.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"

namespace isobar::comm_mpi {
namespace {

constexpr std::size_t longest_piece = std::size_t{1} << 30;
constexpr int longest_pause_microseconds = 200;
constexpr double until_a_peer_is_asked = 2, patience_with_a_dropped_message = 1, patience_with_the_launcher = 30;

}  // namespace

// MPI may know of a death before the launcher has reported it: an error of MPI is then no failure of this rank.
template <class F>
auto MpiTransfer::or_news_of_a_death(F action) {
  try {
    return action();
  } catch (const Error&) {
    if (!world_->elastic()) throw;
    const double begin = now_seconds();
    for (comm::Patience patience; now_seconds() - begin < patience_with_the_launcher; patience.pause()) {
      world_->service().check(message_.epoch);
      expect_living_peer();
    }
    throw;
  }
}

// A death that ends the group may have come in after the last check, so that this rank sees it here first.
void MpiTransfer::expect_living_peer() const {
  if (!world_->service().has_died(message_.peer)) return;
  world_->service().check(message_.epoch);
  throw comm::PeerDied(fmt::format("rank {} has died", message_.peer));
}

MpiTransfer::MpiTransfer(std::shared_ptr<MpiWorld> world, const Message& message)
    : world_(std::move(world)), message_(message) {
  world_->service().check(message.epoch);
  if (world_->elastic()) {
    own_ = std::make_unique_for_overwrite<std::byte[]>(message.length);
    if (message.sends && message.length > 0) std::memcpy(own_.get(), message.memory, message.length);
  }
  try {
    or_news_of_a_death([&] { begin(); });
  } catch (...) {
    leave_to_mpi();
    throw;
  }
}

void MpiTransfer::begin() {
  const auto lock = world_->use_mpi();
  // Whether a message of unknown length goes on is seen when the piece before has arrived.
  const std::size_t known = message_.fit == comm::Length::exact ? message_.length / longest_piece + 1 : 1;
  for (pieces_.reserve(known); pieces_.size() < known;) begin_piece();
}

void MpiTransfer::begin_piece() {
  std::byte* const memory = (own_ ? own_.get() : message_.memory) + begun_;
  const int length = std::min(longest_piece, message_.length - begun_);
  Piece& piece = pieces_.emplace_back(Piece{.length = length});
  begun_ += length;
  const MPI_Comm with = world_->messages(message_.group);
  call(message_.sends ? MPI_Isend(memory, length, MPI_BYTE, message_.peer, message_.tag, with, &piece.request)
                      : MPI_Irecv(memory, length, MPI_BYTE, message_.peer, message_.tag, with, &piece.request),
       message_.sends ? "begin to send" : "begin to receive");
}

bool MpiTransfer::test(Piece& piece) {
  int done = 0;
  MPI_Status status;
  const int code = MPI_Test(&piece.request, &done, &status);
  if (code != MPI_SUCCESS) {
    piece.request = MPI_REQUEST_NULL;
    leave_to_mpi();
    if (error_class(code) == MPI_ERR_TRUNCATE) throw_wrong_length("a longer message");
    call(code, message_.sends ? "send" : "receive");
  }
  if (!done) return false;
  int length = piece.length;
  if (!message_.sends) MPI_Get_count(&status, MPI_BYTE, &length);
  arrived_ += length;
  if (message_.fit == comm::Length::exact && length != piece.length)
    throw_wrong_length(fmt::format("a message of {} bytes", arrived_));
  return true;
}

bool MpiTransfer::test() {
  if (finished_ == pieces_.size()) return true;
  {
    const auto lock = world_->use_mpi();
    while (finished_ < pieces_.size() && test(pieces_[finished_])) {
      ++finished_;
      if (message_.fit == comm::Length::at_most && arrived_ == finished_ * longest_piece) begin_piece();
    }
  }
  if (finished_ < pieces_.size()) return false;
  if (own_ && !message_.sends && arrived_ > 0) std::memcpy(message_.memory, own_.get(), arrived_);
  if (!message_.sends && message_.balance) message_.balance->received(message_.peer);
  return true;
}

void MpiTransfer::throw_wrong_length(const std::string& sent) const {
  comm::throw_wrong_length(sent, message_.peer, message_.length, message_.fit, world_->rank());
}

bool MpiTransfer::finishes_within(double seconds) {
  const double begin = now_seconds();
  for (comm::Patience patience(longest_pause_microseconds);; patience.pause()) {
    world_->service().check(message_.epoch);
    const bool died = world_->service().has_died(message_.peer);
    if (or_news_of_a_death([&] { return test(); })) return true;
    if (died) expect_living_peer();
    const double waited = now_seconds() - begin;
    if (seconds >= 0 && waited >= seconds) return false;
    // When the answer of a rank that has ended is here, so is everything it sent before.
    if (waited > until_a_peer_is_asked && message_.peer != world_->rank() &&
        world_->service().has_left(message_.peer)) {
      if (or_news_of_a_death([&] { return test(); })) return true;
      throw comm::PeerLeft(fmt::format("waited for rank {}, which has ended", message_.peer));
    }
  }
}

bool MpiTransfer::withdrawn_within(double seconds) {
  const double begin = now_seconds();
  for (comm::Patience patience(longest_pause_microseconds);; patience.pause()) {
    {
      const auto lock = world_->gate().enter();
      for (; finished_ < pieces_.size(); ++finished_) {
        int done = 0;
        MPI_Test(&pieces_[finished_].request, &done, MPI_STATUS_IGNORE);
        if (!done) break;
      }
    }
    if (finished_ == pieces_.size()) return true;
    if (now_seconds() - begin > seconds) return false;
  }
}

void MpiTransfer::take_back_receives() {
  const auto lock = world_->gate().enter();
  for (std::size_t i = finished_; i < pieces_.size() && !message_.sends; ++i)
    if (pieces_[i].request != MPI_REQUEST_NULL) MPI_Cancel(&pieces_[i].request);
}

// A receive whose message has partly arrived takes all of it, if its group still exists.
void MpiTransfer::abandon() {
  bool lives = true;
  try {
    world_->service().check(message_.epoch);
  } catch (const comm::Aborted&) {
    lives = false;
  }
  if (withdrawn_within(lives && !message_.sends ? patience_with_a_dropped_message : 0)) return;
  world_->numbers().spoil(message_.group, message_.epoch);
  leave_to_mpi();
}

void MpiTransfer::leave_to_mpi() { [[maybe_unused]] const std::byte* for_ever = own_.release(); }

MpiTransfer::~MpiTransfer() {
  if (finished_ == pieces_.size()) return;
  if (!world_->gate().is_open()) {
    leave_to_mpi();
    return;
  }
  try {
    if (message_.sends) world_->numbers().spoil(message_.group, message_.epoch);
    take_back_receives();
    if (world_->elastic()) {
      abandon();
      return;
    }
    if (withdrawn_within(patience_with_a_dropped_message)) return;
    world_->service().abort(fmt::format("a message of {} bytes {} rank {} was dropped half way", message_.length,
                                        message_.sends ? "to" : "from", message_.peer));
    if (withdrawn_within(0.2)) return;
  } catch (...) {  // no memory for a message: the world ends without one
    leave_to_mpi();
  }
  if (!world_->elastic()) world_->gate().close();
}

}  // namespace isobar::comm_mpi
