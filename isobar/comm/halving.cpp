// Recursive halving: in each of log2 P rounds a rank sends the half of its sums that it will not own to a peer.
// Backwards it is an all-gather by doubling; both together are Rabenseifner's all-reduce: 2 log2 P rounds, 2 n (P - 1)
// / P numbers. If P is not a power of two, neighbours are summed first and one of each pair stands for both.
#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

using Kind = Move::Kind;

Schedule scatter_by_halving(const Group& group, std::size_t count) {
  const Core core(group);
  std::vector<std::size_t> bounds;  // neighbours have neighbouring blocks: a member of the core owns both at first
  for (const int member : core.members) bounds.push_back(block(count, group.size, member).begin);
  bounds.push_back(count);
  const Schedule part = halving_reduce_scatter(core.index, bounds);
  if (core.excess == 0) return part;

  Schedule schedule(1);
  if (core.neighbour >= 0) add(schedule[0], core.index < 0 ? Kind::send : Kind::add, core.neighbour, {0, count});
  append(schedule, part, core.members);
  Round& last = schedule.emplace_back();
  if (core.index < 0) add(last, Kind::receive, core.neighbour, block(count, group.size, group.rank));
  else if (core.neighbour >= 0) add(last, Kind::send, core.neighbour, block(count, group.size, core.neighbour));
  return schedule;
}

Schedule gather_by_halving(const Group& group, std::size_t count) { return mirrored(scatter_by_halving(group, count)); }

Schedule reduce_by_halving(const Group& group, std::size_t count) {
  const Core core(group);
  // It does not matter here which rank owns what, so the first and largest round is with the nearest rank, which may be
  // on the same node: ranks take part under their numbers with reversed bits.
  const auto reversed = [&](int index) {
    int result = 0;
    for (int bit = 1; bit < core.size; bit *= 2) result = result * 2 + (index & bit ? 1 : 0);
    return result;
  };
  std::vector<std::size_t> bounds;
  for (int index = 0; index < core.size; ++index) bounds.push_back(block(count, core.size, index).begin);
  bounds.push_back(count);
  Schedule halves = halving_reduce_scatter(core.index < 0 ? -1 : reversed(core.index), bounds);
  for (Round& round : halves)
    for (Move& move : round) move.peer = reversed(move.peer);
  append(halves, mirrored(halves));
  return folded(core, group, count, halves);
}

}  // namespace

extern const Row<Algorithm> all_gather_doubling{"doubling", "twice as many numbers in each of log2 P rounds",
                                                [](Args&) { return algorithm(gather_by_halving); }};

extern const Row<Algorithm> all_reduce_halving_doubling{
    "halving_doubling", "recursive halving, then doubling: least traffic, 2 log2 P rounds",
    [](Args&) { return algorithm(reduce_by_halving); }};

extern const Row<Algorithm> reduce_scatter_halving{"halving", "half as many numbers in each of log2 P rounds",
                                                   [](Args&) { return algorithm(scatter_by_halving); }};

}  // namespace isobar::comm
