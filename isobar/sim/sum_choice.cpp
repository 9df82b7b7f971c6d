// Which algorithm sums: what a recipe leaves open a reducer measures on the machine; here the costs are asked instead.
#include <algorithm>

#include "isobar/comm/choice.hpp"
#include "isobar/sim/sum_costs.hpp"

namespace isobar::sim {
namespace {

// What comm::make_reducer() would choose from. What only a message library or the memory of a node can do is modelled
// by what suits best.
std::vector<Spec> candidates_for(const Spec& asked, const RankNodes& placement) {
  const bool modelled = asked.name() == "native" || asked.name() == "shared";
  return comm::candidates(modelled ? Spec("auto") : asked, placement.ranks_per_node > 1);
}

bool is_open(const Spec& asked, const RankNodes& placement) { return candidates_for(asked, placement).size() > 1; }

}  // namespace

// Rounds cost their latency, and the busiest rank sends its part at the rate of its node: most candidates that are
// wrong for so many ranks are seen to be slow without looking at all of their schedules.
double SumCosts::at_least(const Spec& algorithm, std::size_t count) const {
  const comm::Group first{.rank = 0, .size = placement_.ranks, .nodes = nodes_};
  const auto schedule = make(comm::all_reduces(), algorithm, "algorithm")->schedule(first, count);
  const double shortest = placement_.ranks_per_node > 1 ? platform_.node.inside_latency : platform_.network.latency;
  double seconds = 0;
  for (const comm::Round& round : schedule) {
    const auto sends = std::ranges::count_if(round, [](const comm::Move& move) { return move.is_message_of(0); });
    seconds += sends * platform_.network.message_overhead + (sends > 0 ? shortest : 0);
  }
  return seconds;
}

const Spec& SumCosts::chosen(const Spec& asked, std::size_t count) {
  const auto [found, is_new] = chosen_.try_emplace({asked.str(), count}, asked);
  if (!is_new || !is_open(asked, placement_) || placement_.ranks == 1) return found->second;
  std::vector<std::pair<double, Spec>> list;
  for (const Spec& candidate : candidates_for(asked, placement_))
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
  if (!is_open(asked, placement_)) return asked.str();
  std::string text;
  for (const auto& [key, spec] : chosen_) {
    if (key.first != asked.str() || text.find(spec.str()) != std::string::npos) continue;
    text += (text.empty() ? "" : ", ") + spec.str();
  }
  const char* const word = asked.name() == "native" ? ", modelled as " : ": ";
  return text.empty() ? asked.str() : asked.str() + word + text;
}

}  // namespace isobar::sim
