#include "isobar/comm_mpi/mpi_transfer.hpp"

#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/comm/patience.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"

namespace isobar::comm_mpi {
namespace {

constexpr std::size_t longest_piece = std::size_t{1} << 30;
constexpr int longest_pause_microseconds = 200;
constexpr double until_a_peer_is_asked = 2, patience_with_a_dropped_message = 1;

}  // namespace

MpiTransfer::MpiTransfer(std::shared_ptr<MpiWorld> world, const Message& message)
    : world_(std::move(world)), message_(message) {
  world_->failure().check();
  const std::size_t count = std::max<std::size_t>(1, (message.length + longest_piece - 1) / longest_piece);
  pieces_.resize(count);
  const auto lock = world_->use_mpi();
  for (std::size_t i = 0; i < count; ++i) {
    Piece& piece = pieces_[i];
    std::byte* memory = message.memory + i * longest_piece;
    piece.length = static_cast<int>(std::min(longest_piece, message.length - i * longest_piece));
    call(message.sends
             ? MPI_Isend(memory, piece.length, MPI_BYTE, message.peer, message.tag, world_->messages(), &piece.request)
             : MPI_Irecv(memory, piece.length, MPI_BYTE, message.peer, message.tag, world_->messages(), &piece.request),
         message.sends ? "begin to send" : "begin to receive");
  }
}

bool MpiTransfer::test(Piece& piece) {
  int done = 0;
  MPI_Status status;
  const int code = MPI_Test(&piece.request, &done, &status);
  if (code != MPI_SUCCESS) {
    piece.request = MPI_REQUEST_NULL;
    if (error_class(code) == MPI_ERR_TRUNCATE) throw_wrong_length("a longer message");
    call(code, message_.sends ? "send" : "receive");
  }
  if (!done || message_.sends) return done;
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  if (length != piece.length) throw_wrong_length(fmt::format("a message of {} bytes", length));
  return true;
}

bool MpiTransfer::test() {
  const auto lock = world_->use_mpi();
  while (finished_ < pieces_.size() && test(pieces_[finished_])) ++finished_;
  return finished_ == pieces_.size();
}

void MpiTransfer::throw_wrong_length(const std::string& met) const {
  throw std::logic_error(fmt::format("{} from rank {} met a receive of {} bytes on rank {}", met, message_.peer,
                                     message_.length, world_->rank()));
}

bool MpiTransfer::finishes_within(double seconds) {
  const double begin = now_seconds();
  for (comm::Patience patience(longest_pause_microseconds);; patience.pause()) {
    if (test()) return true;
    world_->failure().check();
    const double waited = now_seconds() - begin;
    if (seconds >= 0 && waited >= seconds) return false;
    // What a rank that has come to its end had sent before is here when its answer is.
    if (waited > until_a_peer_is_asked && message_.peer != world_->rank() &&
        world_->service().has_left(message_.peer)) {
      if (test()) return true;
      throw comm::PeerLeft(fmt::format("waited for rank {}, which has ended", message_.peer));
    }
  }
}

bool MpiTransfer::withdrawn_within(double seconds) {
  const double begin = now_seconds();
  for (comm::Patience patience(longest_pause_microseconds);; patience.pause()) {
    {
      const std::lock_guard lock(world_->mutex());
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

MpiTransfer::~MpiTransfer() {
  if (finished_ == pieces_.size() || !world_->may_use_mpi()) return;
  try {
    if (message_.sends) world_->numbers().spoil(message_.group);
    {
      const std::lock_guard lock(world_->mutex());
      if (!message_.sends)
        for (std::size_t i = finished_; i < pieces_.size(); ++i)
          if (pieces_[i].request != MPI_REQUEST_NULL) MPI_Cancel(&pieces_[i].request);
    }
    if (withdrawn_within(patience_with_a_dropped_message)) return;
    world_->service().abort(fmt::format("a message of {} bytes {} rank {} was dropped half way", message_.length,
                                        message_.sends ? "to" : "from", message_.peer));
    if (withdrawn_within(0.2)) return;
  } catch (...) {  // there is no memory for a message: the world is ended without one
  }
  world_->freeze();
}

}  // namespace isobar::comm_mpi
