// Which algorithm sums: what a recipe leaves open a reducer measures on the machine; here the costs are asked instead.
#include <algorithm>

#include "isobar/sim/sum_costs.hpp"

namespace isobar::sim {
namespace {

bool open_outer(const Spec& asked) {
  return asked.name() == "hierarchical" && !asked.find("inner") &&
         (!asked.find("outer") || asked.find("outer")->str() == "auto");
}

// As comm::make_reducer() has them, the candidates within nodes as schedules.
std::vector<Spec> candidates(const Spec& asked, bool many_per_node) {
  std::vector<Spec> list;
  for (const char* name : {"recursive_doubling", "ring", "halving_doubling", "pipelined_ring", "tree"}) {
    if (many_per_node || open_outer(asked)) list.push_back(Spec("hierarchical", {{"outer", Value(Spec(name))}}));
    else list.emplace_back(name);
  }
  return list;
}

bool is_open(const Spec& asked) {
  return asked.name() == "auto" || asked.name() == "native" || asked.name() == "shared" || open_outer(asked);
}

}  // namespace

// Rounds cost their latency, and the busiest rank sends its part at the rate of its node: most candidates that are
// wrong for so many ranks are seen to be slow without looking at all of their schedules.
double SumCosts::at_least(const Spec& algorithm, std::size_t count) const {
  const comm::Group first{.rank = 0, .size = placement_.ranks, .nodes = nodes_};
  const auto schedule = make(comm::all_reduces(), algorithm, "algorithm")->schedule(first, count);
  const double shortest = placement_.ranks_per_node > 1 ? platform_.node.inside_latency : platform_.network.latency;
  double seconds = 0;
  for (const comm::Round& round : schedule) {
    const auto sends = std::ranges::count_if(
        round, [](const comm::Move& move) { return move.kind == comm::Move::Kind::send && move.peer != 0; });
    seconds += static_cast<double>(sends) * platform_.network.message_overhead + (sends > 0 ? shortest : 0);
  }
  return seconds;
}

const Spec& SumCosts::chosen(const Spec& asked, std::size_t count) {
  const auto [found, is_new] = chosen_.try_emplace({asked.str(), count}, asked);
  if (!is_new || !is_open(asked) || placement_.ranks == 1) return found->second;
  std::vector<std::pair<double, Spec>> list;
  for (const Spec& candidate : candidates(asked, placement_.ranks_per_node > 1))
    list.emplace_back(at_least(candidate, count), candidate);
  std::ranges::stable_sort(list, {}, &std::pair<double, Spec>::first);
  double best = 0;
  for (const auto& [least, candidate] : list) {
    if (best > 0 && least >= best) break;
    const double seconds = cost(candidate, count).seconds();
    if (best > 0 && seconds >= best) continue;
    best = seconds;
    found->second = candidate;
  }
  return found->second;
}

std::string SumCosts::describe(const Spec& asked) const {
  if (!is_open(asked)) return asked.str();
  std::string text;
  for (const auto& [key, spec] : chosen_) {
    if (key.first != asked.str() || text.find(spec.str()) != std::string::npos) continue;
    text += (text.empty() ? "" : ", ") + spec.str();
  }
  const char* const word = asked.name() == "native" ? ", modelled as " : ": ";
  return text.empty() ? asked.str() : asked.str() + word + text;
}

}  // namespace isobar::sim
