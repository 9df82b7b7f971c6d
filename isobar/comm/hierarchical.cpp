// Hierarchical: sum within nodes, then between them, then spread the result within nodes. Each number crosses between
// two nodes once, not once per rank. If all nodes have the same number of ranks, each rank owns a slice of the data:
// all links of a node are used, and each slice is summed among the ranks at the same place of their nodes. Otherwise
// the first rank of a node leads.
#include <algorithm>
#include <limits>
#include <vector>

#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

using Kind = Move::Kind;

// This rank's place, and the ranks at the same place or on the same node. One process may make this for thousands of
// ranks in turn, so lists of other ranks are made only when needed.
class Places {
 public:
  explicit Places(const Group& group) : size_(group.size) {
    expects(group.nodes.empty() || group.nodes.size() == static_cast<std::size_t>(group.size), "a node for every rank");
    // Nodes are counted in the order of their numbers, ranks of a node in rank order.
    const auto number = [&](int rank) {
      return group.nodes.empty() ? rank : group.nodes[static_cast<std::size_t>(rank)];
    };
    std::vector<int> used;
    for (int rank = 0; rank < size_; ++rank) {
      const auto at = static_cast<std::size_t>(number(rank));
      if (at >= used.size()) used.resize(at + 1);
      place_of_.push_back(used[at]++);
    }
    std::vector<int> index(used.size());
    for (std::size_t at = 0; at < used.size(); ++at) {
      if (used[at] == 0) continue;
      index[at] = count_++;
      shortest = std::min(shortest, used[at]);
      longest = std::max(longest, used[at]);
    }
    for (int rank = 0; rank < size_; ++rank) {
      node_of_.push_back(index[static_cast<std::size_t>(number(rank))]);
      if (number(rank) == number(group.rank)) own_.push_back(rank);
    }
    node = node_of_[static_cast<std::size_t>(group.rank)];
    place = place_of_[static_cast<std::size_t>(group.rank)];
  }

  const std::vector<int>& own() const { return own_; }
  int count() const { return count_; }
  // The ranks at this place of their nodes, by node; all nodes must have such a place.
  std::vector<int> across(int at) const {
    std::vector<int> ranks(static_cast<std::size_t>(count_));
    for (int rank = 0; rank < size_; ++rank)
      if (place_of_[static_cast<std::size_t>(rank)] == at)
        ranks[static_cast<std::size_t>(node_of_[static_cast<std::size_t>(rank)])] = rank;
    return ranks;
  }

  int node = 0, place = 0, shortest = std::numeric_limits<int>::max(), longest = 1;

 private:
  int size_, count_ = 0;
  std::vector<int> node_of_, place_of_;  // by rank
  std::vector<int> own_;
};

class Hierarchical final : public Algorithm {
 public:
  explicit Hierarchical(Args& args) {
    const std::string inner = args.one_of("inner", "halving", {"halving", "ring"});
    inner_ = make(reduce_scatters(), inner, "reduce-scatter");
    Spec outer;
    outer_ = make(all_reduces(), args.spec("outer", "ring"), "all-reduce", &outer);
    args.record("outer", outer);
  }

  Schedule schedule(const Group& group, std::size_t count) const override {
    const Places places(group);
    return places.shortest == places.longest ? sliced(places, count) : led(places, count);
  }

 private:
  Schedule sliced(const Places& places, std::size_t count) const {
    const int slices = places.longest;
    const auto between = [&](int place) {
      return outer_->schedule({.rank = places.node, .size = places.count()}, block(count, slices, place).count);
    };
    const Schedule inside = inner_->schedule({.rank = places.place, .size = slices}, count);
    // Lengths of slices differ by at most one: the first and the last have both lengths, and may need different rounds.
    Schedule part = between(places.place);
    if (count % static_cast<std::size_t>(slices) != 0)
      part.resize(std::max(between(0).size(), between(slices - 1).size()));

    Schedule schedule;
    append(schedule, inside, places.own());
    append(schedule, part, places.across(places.place), block(count, slices, places.place).begin);
    append(schedule, mirrored(inside), places.own());
    return schedule;
  }

  Schedule led(const Places& places, std::size_t count) const {
    Schedule inside = tree_reduce(places.place, static_cast<int>(places.own().size()), count);
    inside.resize(tree_reduce(0, places.longest, count).size());
    Schedule between = outer_->schedule({.rank = places.node, .size = places.count()}, count);
    if (places.place > 0) between = Schedule(between.size());

    Schedule schedule;
    append(schedule, inside, places.own());
    append(schedule, between, places.across(0));
    append(schedule, mirrored(inside), places.own());
    // Ranks that pass the result on round it as a codec of 16 bits does, so a rank that is alone on its node must too.
    if (places.own().size() == 1) add(schedule.back(), Kind::send, places.own().front(), {0, count});
    return schedule;
  }

  std::unique_ptr<Algorithm> inner_, outer_;
};

}  // namespace

extern const Row<Algorithm> all_reduce_hierarchical{
    "hierarchical", "inside the nodes, between them, inside again: for several ranks per node",
    [](Args& args) -> std::unique_ptr<Algorithm> { return std::make_unique<Hierarchical>(args); }};

}  // namespace isobar::comm
