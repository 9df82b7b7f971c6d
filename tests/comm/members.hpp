// The algorithms that the conformance tests of schedules try: every member of every table, some also with non-default
// arguments.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

enum class Collective { all_reduce, reduce_scatter, all_gather, broadcast };

struct Member {
  Collective collective;
  Spec spec;
  std::unique_ptr<Algorithm> algorithm;

  bool uses_nodes() const { return spec.name() == "hierarchical"; }
  /// Whether it exists for this many ranks, on this many nodes.
  bool serves(int ranks, int nodes) const {
    const auto power_of_two = [](int number) { return std::has_single_bit(static_cast<unsigned>(number)); };
    if (spec.name() == "reproducible") return power_of_two(ranks);
    const Value* const outer = spec.find("outer");
    return !outer || *outer != Value(Spec("reproducible")) || power_of_two(nodes);
  }
  std::vector<Schedule> schedules(int ranks, const std::vector<int>& nodes, std::size_t count) const {
    std::vector<Schedule> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(algorithm->schedule({rank, ranks, nodes}, count));
    return all;
  }
};

inline std::vector<Member> all_members() {
  std::vector<Member> members;
  const auto take = [&](Collective collective, Table<Row<Algorithm>> table, const Spec& spec) {
    members.push_back({collective, spec, make(table, spec, "algorithm")});
  };
  for (const std::string& name : names(all_reduces())) {
    take(Collective::all_reduce, all_reduces(), Spec(name));
    for (const char* inner : {"halving", "ring"})
      take(Collective::all_reduce, all_reduces(),
           Spec("hierarchical", {{"inner", Value(inner)}, {"outer", Value(Spec(name))}}));
  }
  for (const char* text : {"pipelined_ring(segment=100)", "pipelined_ring(segment=1000000000)",
                           "hierarchical(outer=pipelined_ring(segment=309))"})
    take(Collective::all_reduce, all_reduces(), text);
  for (const std::string& name : names(reduce_scatters()))
    take(Collective::reduce_scatter, reduce_scatters(), Spec(name));
  for (const std::string& name : names(all_gathers())) take(Collective::all_gather, all_gathers(), Spec(name));
  for (const std::string& name : names(broadcasts())) take(Collective::broadcast, broadcasts(), Spec(name));
  for (const char* text : {"pipelined_chain(segment=100)", "pipelined_chain(segment=1000000000)"})
    take(Collective::broadcast, broadcasts(), text);
  return members;
}

/// The node of every rank, with `per_node` ranks on each; the last node may have fewer.
inline std::vector<int> nodes_of(int ranks, int per_node) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / per_node);
  return nodes;
}

}  // namespace isobar::comm
