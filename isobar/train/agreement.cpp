#include "isobar/train/agreement.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::train {
namespace {

constexpr int sum_tag = 0, collect_tag = 1;
constexpr std::size_t longest_value = 160;  // of a fact in a message

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void add_exchanged(comm::Comm& comm, int peer, std::span<std::int64_t> numbers, const Look& look) {
  std::vector<std::int64_t> theirs(numbers.size());
  const std::vector<std::int64_t> mine(numbers.begin(), numbers.end());
  comm::Ticket receive = comm.start_receive(peer, sum_tag, std::as_writable_bytes(std::span(theirs)));
  comm::Ticket send = comm.start_send(peer, sum_tag, std::as_bytes(std::span(mine)));
  wait(receive, look);
  wait(send, look);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += theirs[i];
}

void send_watched(comm::Comm& comm, int to, std::span<const std::byte> bytes, const Look& look) {
  comm::Ticket ticket = comm.start_send(to, sum_tag, bytes);
  wait(ticket, look);
}

void receive_watched(comm::Comm& comm, int from, std::span<std::byte> bytes, const Look& look) {
  comm::Ticket ticket = comm.start_receive(from, sum_tag, bytes);
  wait(ticket, look);
}

}  // namespace

// Recursive doubling between as many ranks as are a power of two; each of the others goes through one of these.
void sum_over_ranks(comm::Comm& comm, std::span<std::int64_t> numbers, const Look& look) {
  const int size = comm.size(), rank = comm.rank();
  const int inner = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  const auto bytes = std::as_writable_bytes(numbers);
  if (rank >= inner) {
    send_watched(comm, rank - inner, bytes, look);
    receive_watched(comm, rank - inner, bytes, look);
    return;
  }
  const bool has_outer = rank + inner < size;
  if (has_outer) {
    std::vector<std::int64_t> theirs(numbers.size());
    receive_watched(comm, rank + inner, std::as_writable_bytes(std::span(theirs)), look);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += theirs[i];
  }
  for (int distance = 1; distance < inner; distance *= 2) add_exchanged(comm, rank ^ distance, numbers, look);
  if (has_outer) send_watched(comm, rank + inner, bytes, look);
}

void meet(comm::Comm& comm, const WaitLimits& limits, const std::string& what) {
  sum_over_ranks(comm, {}, while_all_answer(comm, limits, what));
}

void collect(comm::Comm& comm, std::span<const std::byte> mine,
             const std::function<void(int rank, std::span<const std::byte> theirs)>& take) {
  std::uint64_t length = mine.size();
  const auto length_bytes = std::as_writable_bytes(std::span(&length, 1));
  if (comm.rank() > 0) {
    comm.send(0, collect_tag, length_bytes);
    comm.send(0, collect_tag, mine);
    return;
  }
  take(0, mine);
  comm::Bytes theirs;
  for (int rank = 1; rank < comm.size(); ++rank) {
    comm.receive(rank, collect_tag, length_bytes);
    theirs.resize(length);
    comm.receive(rank, collect_tag, theirs);
    take(rank, theirs);
  }
}

void share_numbers(comm::Comm& comm, std::span<float> numbers) {
  if (comm.size() == 1) return;
  constexpr std::size_t piece = std::size_t{16} << 20;  // bounds the copy a broadcast makes
  for (std::size_t first = 0; first < numbers.size(); first += piece) {
    const auto part = std::as_writable_bytes(numbers.subspan(first, std::min(piece, numbers.size() - first)));
    comm::Bytes copy(part.begin(), part.end());
    comm::broadcast(comm, copy);
    expects(copy.size() == part.size(), "as many numbers on all ranks");
    std::ranges::copy(copy, part.begin());
  }
}

void share_text(comm::Comm& comm, std::string& text) {
  const auto raw = std::as_bytes(std::span(text));
  comm::Bytes bytes(raw.begin(), raw.end());
  comm::broadcast(comm, bytes);
  text = text_of(bytes);
}

void expect_same(comm::Comm& comm, std::span<const Fact> facts) {
  if (comm.size() == 1) return;
  comm::Bytes bytes;
  const auto put = [&](const std::string& text) {
    const auto raw = std::as_bytes(std::span(text.c_str(), text.size() + 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  };
  if (comm.rank() == 0)
    for (const Fact& fact : facts) put(fact.name), put(fact.value);
  comm::broadcast(comm, bytes);
  const std::string text = text_of(bytes);
  std::size_t at = 0;
  const auto next = [&]() -> std::optional<std::string> {
    if (at >= text.size()) return std::nullopt;
    std::string word(text.c_str() + at);
    at += word.size() + 1;
    return word;
  };
  const auto shown = [](const std::string& value) { return one_line(value, longest_value); };
  for (const Fact& fact : facts) {
    const auto name = next(), value = next();
    if (!name)
      fail("{} is {} here; rank 0 has no such thing: all ranks must run the same", fact.name, shown(fact.value));
    if (*name != fact.name)
      fail("{} is {} here; rank 0 has there {}, {}: all ranks must run the same", fact.name, shown(fact.value), *name,
           shown(*value));
    if (*value != fact.value)
      fail("{} is {} here and {} on rank 0: all ranks must run the same", fact.name, shown(fact.value), shown(*value));
  }
  if (const auto name = next())
    fail("rank 0 has {}, {}, and this rank has not: all ranks must run the same", *name, shown(next().value_or("")));
}

}  // namespace isobar::train
