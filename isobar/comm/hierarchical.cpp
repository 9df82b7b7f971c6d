// Hierarchical: sum inside the nodes, then between them, then spread the result inside. Each number crosses between two
// nodes once, not once per rank. Where all nodes have equally many ranks each owns a slice of the data: all links of a
// node are used, and each slice is summed among the ranks of equal place. Otherwise the first rank of a node leads.
#include <algorithm>
#include <limits>
#include <map>

#include "isobar/comm/compose.hpp"

namespace isobar::comm {
namespace {

using Kind = Move::Kind;

// The ranks of every node, and where this rank stands.
struct Places {
  explicit Places(const Group& group) {
    expects(group.nodes.empty() || group.nodes.size() == static_cast<std::size_t>(group.size), "a node for every rank");
    std::map<int, std::vector<int>> by_node;
    for (int rank = 0; rank < group.size; ++rank)
      by_node[group.nodes.empty() ? rank : group.nodes[static_cast<std::size_t>(rank)]].push_back(rank);
    for (auto& [_, ranks] : by_node) {
      if (const auto self = std::ranges::find(ranks, group.rank); self != ranks.end()) {
        node = static_cast<int>(nodes.size());
        place = static_cast<int>(self - ranks.begin());
      }
      shortest = std::min(shortest, static_cast<int>(ranks.size()));
      longest = std::max(longest, static_cast<int>(ranks.size()));
      nodes.push_back(std::move(ranks));
    }
  }

  const std::vector<int>& own() const { return nodes[static_cast<std::size_t>(node)]; }
  int count() const { return static_cast<int>(nodes.size()); }
  // The ranks that are at this place of their nodes; all nodes must have it.
  std::vector<int> across(int at) const {
    std::vector<int> ranks;
    for (const auto& members : nodes) ranks.push_back(members[static_cast<std::size_t>(at)]);
    return ranks;
  }

  std::vector<std::vector<int>> nodes;
  int node = 0, place = 0, shortest = std::numeric_limits<int>::max(), longest = 1;
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
    // Slices differ by one number: of those there are the first and the last, which may need different rounds.
    Schedule part = between(places.place);
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
    // Who hands the result on rounds it on a wire of 16 bits, so one that is alone on its node must too.
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
