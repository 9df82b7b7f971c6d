// Walk: one schedule under way on one rank. It never waits by itself, so one thread can drive several at once. A long
// move travels in pieces, a few at a time: a piece that has arrived is added while the next is under way, and the
// memory for pieces is bounded and reused, however long the data are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

class Walk {
 public:
  /// The most floats in one message, and of other numbers as many as take the same memory.
  static constexpr std::size_t piece = std::size_t{1} << 17;
  /// How many messages `floats` floats take.
  static constexpr std::size_t messages(std::size_t floats) { return (floats + piece - 1) / piece; }
  /// The next message of a range of which `begun` numbers are already sent or under way.
  static Range next_message(const Range& range, std::size_t begun, std::size_t longest = piece) {
    return {range.begin + begun, std::min(longest, range.count - begun)};
  }

  /// Nothing is sent before the first advance(). The group, the schedule and the memory must outlive it; simultaneous
  /// walks over the same Comm need different tags. A walk that is destroyed unfinished withdraws its messages.
  Walk(Comm& comm, const Schedule& schedule, const Numbers& data, int tag);
  Walk(Walk&&) = default;

  /// Does as much as possible without waiting, possibly several rounds; returns whether the walk is finished.
  bool advance();
  /// Waits at most `seconds` for something that lets advance() continue; may return earlier without a reason.
  void wait(double seconds);
  /// Bytes allocated for messages so far: at most 4 messages for each move of a round.
  std::size_t staging_bytes() const { return staging_.size() * message_bytes_; }

 private:
  struct Message {
    Range range;
    std::byte* staging = nullptr;  // its memory while it travels; null: the data itself
    Ticket ticket;
  };
  struct Stream {  // a move of the current round
    Move move;
    bool staged = false;
    std::size_t begun = 0;             // numbers of which messages have begun
    std::size_t over = 0;              // numbers of which messages have ended, in order
    std::vector<Message> under_way{};  // in the order in which they began
    bool sends() const { return move.kind == Move::Kind::send; }
    bool finished() const { return over == move.range.count; }
  };

  void begin_round(const Round& round);
  bool advance(Stream& stream);
  bool is_next(const Stream& stream) const;
  void begin_message(Stream& stream);
  void end_message(Stream& stream);
  bool still_read(const Range& range) const;
  std::span<std::byte> staged_bytes(std::byte* staging, const Range& range) const {
    return {staging, data_.bound(range.count)};
  }
  std::byte* take_staging();

  Comm* comm_;
  const Schedule* schedule_;
  Numbers data_;
  int tag_;
  std::size_t next_round_ = 0;
  std::size_t longest_message_;    // in numbers
  std::size_t message_bytes_ = 0;  // of the longest
  std::vector<std::unique_ptr<std::byte[]>> staging_;
  std::vector<std::byte*> free_staging_;
  std::vector<Stream> streams_;  // destroyed before the memory its messages may arrive in
};

}  // namespace isobar::comm
