#include "isobar/run/placed_ranks.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "isobar/base/text.hpp"
#include "isobar/exec/param_store.hpp"
#include "isobar/parallel/composition.hpp"

namespace isobar::run {
namespace {

using parallel::Placement;

const char* word(parallel::Roles::Role role) { return role == parallel::Roles::Role::trains ? "trains" : "serves"; }

const char* word(comm::Pace pace) {
  return pace == comm::Pace::lockstep ? "lockstep" : pace == comm::Pace::bounded ? "bounded" : "free";
}

// "0-3, 6"
std::string ranges(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (last > i) text += fmt::format("-{}", ranks[last]);
    i = last + 1;
  }
  return text;
}

bool alike(const Placement& a, const Placement& b) {
  return a.role == b.role && a.part == b.part && a.shares == b.shares;
}

}  // namespace

PlacedRanks place_ranks(const train::Job& job, int ranks, int per_node) {
  PlacedRanks placed;
  const std::vector<Placement> all = parallel::place(*job.split, *job.strategy, ranks);
  placed.batching = train::divide_batch(job, all[0].shares);
  placed.steps_per_epoch = job.train_data->size() / placed.batching.batch;
  for (int rank = 0; rank < ranks; ++rank) {
    const Placement& mine = all[rank];
    auto kind = std::ranges::find_if(placed.kinds, [&](const auto& each) { return alike(each.placement, mine); });
    if (kind == placed.kinds.end()) {
      const split::ModelPart part = job.split->cut(job.model.graph(placed.batching.rows), mine.part);
      const graph::Plan plan = graph::make_plan(part.graph, train::plan_options(job));
      const std::vector<exec::GradientPlace> places = exec::ParamStore::gradient_places(plan);
      const std::size_t gradients = exec::ParamStore::gradient_floats(plan);
      KindOfRank made{.placement = mine, .part = part.text, .memory_bytes = plan.memory_bytes()};
      const std::vector<int>& team = mine.circles[0].ranks;
      std::vector<int> nodes;
      for (const int member : team) nodes.push_back(member / per_node);
      // The ends of a chain send less than those between them.
      for (const std::size_t place : {std::size_t{0}, team.size() / 2, team.size() - 1}) {
        const comm::Group group{.rank = static_cast<int>(place), .size = static_cast<int>(team.size()), .nodes = nodes};
        const parallel::StepNeeds needs = job.strategy->needs(group, places, gradients);
        made.traffic.messages = std::max(made.traffic.messages, needs.traffic.messages);
        made.traffic.bytes = std::max(made.traffic.bytes, needs.traffic.bytes);
        if (place == 0) made.memory_bytes += needs.bytes;
      }
      placed.kinds.push_back(std::move(made));
      kind = placed.kinds.end() - 1;
    }
    kind->ranks.push_back(rank);
  }
  return placed;
}

std::string describe(const PlacedRanks& placed, const train::Job& job) {
  Args recipe(job.recipe, "recipe");
  const parallel::Composition named = parallel::read_composition(recipe);
  std::string text = fmt::format("{}; {} steps in an epoch\nsplit {}, strategy {}\n\n", placed.batching.describe(),
                                 with_commas(placed.steps_per_epoch), named.split.str(), named.strategy.str());
  text += fmt::format("{:<12} {:<7} {:<20} {:<10} {:<18} {:>10} {:>24}\n", "ranks", "role", "team", "network",
                      "samples of a step", "memory", "sent in a step");
  for (const KindOfRank& kind : placed.kinds) {
    const comm::Circle& team = kind.placement.circles[0];
    text += fmt::format(
        "{:<12} {:<7} {:<20} {:<10} {:<18} {:>10} {:>24}\n", ranges(kind.ranks), word(kind.placement.role),
        fmt::format("{}, {}", team.ranks.size(), word(team.pace)), kind.part,
        fmt::format("1/{} of {}", kind.placement.shares, placed.batching.batch),
        human_bytes(static_cast<double>(kind.memory_bytes)),
        fmt::format("{} messages, {}", kind.traffic.messages, human_bytes(static_cast<double>(kind.traffic.bytes))));
  }
  return text;
}

std::string to_json(const PlacedRanks& placed) {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  for (const KindOfRank& kind : placed.kinds) {
    nlohmann::ordered_json circles = nlohmann::ordered_json::array();
    for (const comm::Circle& circle : kind.placement.circles)
      circles.push_back({{"name", circle.name}, {"ranks", circle.ranks}, {"pace", word(circle.pace)}});
    kinds.push_back({{"ranks", kind.ranks},
                     {"role", word(kind.placement.role)},
                     {"part", kind.part},
                     {"shares", kind.placement.shares},
                     {"circles", circles},
                     {"memory_bytes", kind.memory_bytes},
                     {"messages_per_step", kind.traffic.messages},
                     {"bytes_per_step", kind.traffic.bytes}});
  }
  return nlohmann::ordered_json{{"batch", placed.batching.batch},
                                {"micro_batches", placed.batching.micro_batches},
                                {"rows", placed.batching.rows},
                                {"steps_per_epoch", placed.steps_per_epoch},
                                {"kinds", kinds}}
      .dump(2);
}

}  // namespace isobar::run
