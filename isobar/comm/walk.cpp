#include "isobar/comm/walk.hpp"

#include <utility>

namespace isobar::comm {
namespace {

// Per move. At least two, so that two ranks whose pieces are cut at different places never wait for each other: a piece
// then depends only on pieces at lower positions. Enough to keep a link busy while a piece is being added.
constexpr std::size_t messages_under_way = 4;

// While some pieces have not begun, a stream other than the one waited for may have room for the next.
constexpr double look_around_seconds = 200e-6;

bool overlap(const Range& a, const Range& b) {
  return a.count > 0 && b.count > 0 && a.begin < b.end() && b.begin < a.end();
}

}  // namespace

Walk::Walk(Comm& comm, const Schedule& schedule, const Numbers& data, int tag)
    : comm_(&comm),
      schedule_(&schedule),
      data_(data),
      tag_(tag),
      longest_message_(piece * sizeof(float) / data.number_bytes()) {
  std::size_t longest = 0;
  for (const Round& round : schedule)
    for (const Move& move : round) {
      expects(move.range.begin <= data.count() && move.range.count <= data.count() - move.range.begin,
              "moves within the data");
      longest = std::max(longest, move.range.count);
    }
  message_bytes_ = data.bound(std::min(longest, longest_message_));
}

bool Walk::advance() {
  for (;;) {
    bool moved = false;
    for (Stream& stream : streams_) moved |= advance(stream);
    if (std::ranges::all_of(streams_, &Stream::finished)) {
      streams_.clear();
      if (next_round_ == schedule_->size()) return true;
      begin_round((*schedule_)[next_round_++]);
    } else if (!moved) {
      return false;
    }
  }
}

void Walk::wait(double seconds) {
  const bool all_begun =
      std::ranges::all_of(streams_, [](const Stream& stream) { return stream.begun == stream.move.range.count; });
  if (!all_begun) seconds = std::min(seconds, look_around_seconds);
  for (Stream& stream : streams_)
    if (!stream.under_way.empty() && !stream.under_way.front().ticket.done()) {
      stream.under_way.front().ticket.wait_for(seconds);
      return;
    }
}

void Walk::begin_round(const Round& round) {
  for (const Move& move : round)  // receives come first, so that the message library need not buffer early messages
    if (move.kind != Move::Kind::send) streams_.push_back({.move = move});
  for (const Move& move : round) {
    if (move.kind != Move::Kind::send) continue;
    if (move.peer == comm_->rank()) data_.round(move.range);
    else streams_.push_back({.move = move});
  }
  for (Stream& stream : streams_)
    stream.staged =
        !data_.is_plain() || stream.move.kind == Move::Kind::add || (!stream.sends() && still_read(stream.move.range));
}

bool Walk::advance(Stream& stream) {
  bool moved = false;
  while (!stream.under_way.empty() && stream.under_way.front().ticket.done() &&
         (stream.sends() || !stream.staged || !still_read(stream.under_way.front().range))) {
    end_message(stream);
    moved = true;
  }
  while (stream.begun < stream.move.range.count && stream.under_way.size() < messages_under_way && is_next(stream)) {
    begin_message(stream);
    moved = true;
  }
  return moved;
}

// Messages of one tag are matched in the order they begin: a move begins after the earlier ones with the same peer.
bool Walk::is_next(const Stream& stream) const {
  return std::all_of(streams_.data(), &stream, [&](const Stream& earlier) {
    return earlier.move.peer != stream.move.peer || earlier.sends() != stream.sends() ||
           earlier.begun == earlier.move.range.count;
  });
}

void Walk::begin_message(Stream& stream) {
  const Range range = next_message(stream.move.range, stream.begun, longest_message_);
  std::byte* const staging = stream.staged ? take_staging() : nullptr;
  const std::span<std::byte> bytes = staging ? staged_bytes(staging, range) : data_.bytes(range);
  if (stream.staged && stream.sends()) data_.encode(range, bytes);
  stream.under_way.push_back({range, staging,
                              stream.sends() ? comm_->start_send(stream.move.peer, tag_, bytes)
                                             : comm_->start_receive(stream.move.peer, tag_, bytes)});
  stream.begun += range.count;
}

void Walk::end_message(Stream& stream) {
  const Message& message = stream.under_way.front();
  if (stream.move.kind == Move::Kind::add) data_.combine(staged_bytes(message.staging, message.range), message.range);
  else if (!stream.sends() && stream.staged) data_.decode(staged_bytes(message.staging, message.range), message.range);
  if (message.staging) free_staging_.push_back(message.staging);
  stream.over += message.range.count;
  stream.under_way.erase(stream.under_way.begin());
}

// Whether a send of this round has yet to read a part of the range. A staged send has read everything it has begun.
bool Walk::still_read(const Range& range) const {
  return std::ranges::any_of(streams_, [&](const Stream& stream) {
    if (!stream.sends()) return false;
    const std::size_t read = stream.staged ? stream.begun : stream.over;
    return overlap(range, {stream.move.range.begin + read, stream.move.range.count - read});
  });
}

std::byte* Walk::take_staging() {
  if (free_staging_.empty()) {
    staging_.push_back(std::make_unique_for_overwrite<std::byte[]>(message_bytes_));
    return staging_.back().get();
  }
  std::byte* const memory = free_staging_.back();
  free_staging_.pop_back();
  return memory;
}

}  // namespace isobar::comm
