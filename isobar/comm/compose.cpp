#include "isobar/comm/compose.hpp"

#include <algorithm>
#include <bit>

namespace isobar::comm {
namespace {

using Kind = Move::Kind;

class Plain final : public Algorithm {
 public:
  explicit Plain(Schedule (*pure)(const Group&, std::size_t)) : schedule_(pure) {}
  Schedule schedule(const Group& group, std::size_t count) const override { return schedule_(group, count); }

 private:
  Schedule (*schedule_)(const Group&, std::size_t);
};

constexpr std::size_t most_segments = 4096;

}  // namespace

std::unique_ptr<Algorithm> algorithm(Schedule (*schedule)(const Group&, std::size_t)) {
  return std::make_unique<Plain>(schedule);
}

void add(Round& round, Kind kind, int peer, const Range& range) {
  if (range.count > 0) round.push_back({kind, peer, range});
}

Range blocks(std::size_t count, int parts, int first, int last) {
  if (first == last) return {};
  const std::size_t begin = block(count, parts, first).begin;
  return {begin, block(count, parts, last - 1).end() - begin};
}

void append(Schedule& schedule, const Schedule& part, std::span<const int> members, std::size_t offset) {
  append(schedule, part);
  for (Round& round : std::span(schedule).last(part.size()))
    for (Move& move : round) {
      move.peer = members[static_cast<std::size_t>(move.peer)];
      move.range.begin += offset;
    }
}

void append(Schedule& schedule, const Schedule& part) { schedule.insert(schedule.end(), part.begin(), part.end()); }

Schedule mirrored(const Schedule& schedule) {
  Schedule backwards(schedule.rbegin(), schedule.rend());
  for (Round& round : backwards)
    for (Move& move : round) move.kind = move.kind == Kind::send ? Kind::receive : Kind::send;
  return backwards;
}

int segments(std::size_t count, std::int64_t segment) {
  const auto length = static_cast<std::size_t>(segment);
  const std::size_t needed = count / length + (count % length ? 1 : 0);
  return static_cast<int>(std::clamp<std::size_t>(needed, 1, most_segments));
}

Core::Core(const Group& group)
    : size(static_cast<int>(std::bit_floor(static_cast<unsigned>(group.size)))), excess(group.size - size) {
  for (int place = 0; place < size; ++place) members.push_back(place < excess ? 2 * place : place + excess);
  if (group.rank < 2 * excess) neighbour = group.rank ^ 1;
  if (neighbour < 0) index = group.rank - excess;
  else if (group.rank < neighbour) index = group.rank / 2;
}

Schedule folded(const Core& core, const Group& group, std::size_t count, const Schedule& part) {
  if (core.excess == 0) return part;
  const Range all{0, count};
  Schedule schedule(1);
  if (core.neighbour >= 0) add(schedule[0], core.index < 0 ? Kind::send : Kind::add, core.neighbour, all);
  append(schedule, part, core.members);
  // Ranks that pass the result on round it as a codec of 16 bits does, so the others must too.
  Round& last = schedule.emplace_back();
  if (core.index < 0) add(last, Kind::receive, core.neighbour, all);
  else add(last, Kind::send, core.neighbour >= 0 ? core.neighbour : group.rank, all);
  return schedule;
}

Schedule ring_reduce_scatter(int rank, int size, std::size_t count) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  Schedule schedule;
  for (int step = 1; step < size; ++step) {
    Round& round = schedule.emplace_back();
    add(round, Kind::add, left, block(count, size, (rank + 2 * size - step - 1) % size));
    add(round, Kind::send, right, block(count, size, (rank + size - step) % size));
  }
  return schedule;
}

Schedule halving_reduce_scatter(int rank, std::span<const std::size_t> bounds) {
  const auto range = [&](int first, int last) {
    const std::size_t begin = bounds[static_cast<std::size_t>(first)];
    return Range{begin, bounds[static_cast<std::size_t>(last)] - begin};
  };
  Schedule schedule;
  int first = 0, last = static_cast<int>(bounds.size()) - 1;  // the ranks whose numbers this rank still sums
  while (last - first > 1) {
    Round& round = schedule.emplace_back();
    const int middle = (first + last) / 2, peer = rank ^ (middle - first);
    const Range low = range(first, middle), high = range(middle, last);
    const bool keeps_low = rank < middle;
    if (rank >= 0) {
      add(round, Kind::add, peer, keeps_low ? low : high);
      add(round, Kind::send, peer, keeps_low ? high : low);
    }
    (keeps_low ? last : first) = middle;
  }
  return schedule;
}

Schedule tree_reduce(int rank, int size, std::size_t count) {
  Schedule schedule;
  for (int distance = 1; distance < size; distance *= 2) {
    Round& round = schedule.emplace_back();
    const int place = rank % (2 * distance);
    if (place == distance) add(round, Kind::send, rank - distance, {0, count});
    else if (place == 0 && rank + distance < size) add(round, Kind::add, rank + distance, {0, count});
  }
  return schedule;
}

Schedule doubling_all_reduce(const Core& core, std::size_t count) {
  Schedule schedule;
  for (int distance = 1; distance < core.size; distance *= 2) {
    Round& round = schedule.emplace_back();
    if (core.index < 0) continue;
    add(round, Kind::add, core.index ^ distance, {0, count});
    add(round, Kind::send, core.index ^ distance, {0, count});
  }
  return schedule;
}

}  // namespace isobar::comm
