#include "isobar/run/placed_ranks.hpp"

#include <algorithm>

#include "isobar/exec/param_store.hpp"
#include "isobar/graph/plan_messages.hpp"
#include "isobar/train/feeds.hpp"

namespace isobar::run {
namespace {

using parallel::Placement;

bool alike(const Placement& a, const Placement& b) {
  return a.role == b.role && a.part == b.part && a.shares == b.shares;
}

double numbers_in(const std::map<std::string, Box>& boxes) {
  double numbers = 0;
  for (const auto& [name, box] : boxes) numbers += static_cast<double>(box.count());
  return numbers;
}

// What a rank with this part of the network reads of a sample, and which share of it that is.
void note_reads(const graph::Graph& whole, const split::ModelPart& part, KindOfRank& kind) {
  std::map<std::string, Box> all;
  for (const graph::GraphValue& value : whole.values())
    if (value.role == graph::GraphValue::Role::input) all[value.name] = Box::whole(train::sample_shape(value.shape));
  kind.reads = all;
  for (const auto& [name, box] : part.inputs) kind.reads[name] = box;
  kind.share = numbers_in(kind.reads) / std::max(1.0, numbers_in(all));
}

void note_traffic(const train::Job& job, const graph::Plan& plan, int per_node, KindOfRank& kind) {
  const Placement& mine = kind.placement;
  const bool trains = mine.role == parallel::Roles::Role::trains;
  const std::vector<exec::GradientPlace> places = exec::ParamStore::gradient_places(plan);
  const std::size_t gradients = exec::ParamStore::gradient_floats(plan);
  std::vector<std::string> names;
  for (const graph::PlanParameter& parameter : plan.parameters) names.push_back(parameter.name);
  const std::vector<int>& team = (trains ? mine.circles.front() : mine.circles.back()).ranks;
  std::vector<int> nodes;
  for (const int member : team) nodes.push_back(member / per_node);
  // The ends of a chain send less than those between them.
  for (const std::size_t place : {std::size_t{0}, team.size() / 2, team.size() - 1}) {
    const comm::Group group{.rank = static_cast<int>(place), .size = static_cast<int>(team.size()), .nodes = nodes};
    const parallel::StepNeeds needs =
        job.strategy->needs({mine.role, group, places, gradients, job.optimizer->slots(), names, mine.teams});
    kind.traffic.messages = std::max(kind.traffic.messages, needs.traffic.messages);
    kind.traffic.bytes = std::max(kind.traffic.bytes, needs.traffic.bytes);
    if (place == 0) kind.memory_bytes += needs.bytes;
  }
}

void note_messages(const graph::Plan& plan, std::int64_t micro_batches, KindOfRank& kind) {
  const comm::Traffic sent = graph::traffic_of(plan).all();
  kind.messages = {micro_batches * sent.messages, micro_batches * sent.bytes};
  kind.sent_to = graph::bytes_by_receiver(plan, "replica");
  for (auto& [partner, bytes] : kind.sent_to) bytes *= micro_batches;
}

KindOfRank kind_of(const train::Job& job, const train::Batching& batching, const Placement& mine, int per_node) {
  KindOfRank kind{.placement = mine};
  const graph::Graph whole = job.model.graph(batching.rows);
  const split::ModelPart part = job.split->cut(whole, mine.part);
  const graph::Plan plan = graph::make_plan(part.graph, train::plan_options(job));
  if (mine.role == parallel::Roles::Role::trains) {
    kind.part = part.text;
    kind.memory_bytes = plan.memory_bytes();
    kind.flops = plan.flops() * static_cast<double>(batching.micro_batches);
    kind.fingerprint = fmt::format("{:016x}", plan.fingerprint());
    note_reads(whole, part, kind);
  } else {
    kind.part = "parameters";
  }
  note_traffic(job, plan, per_node, kind);
  if (mine.role == parallel::Roles::Role::trains) note_messages(plan, batching.micro_batches, kind);
  return kind;
}

PlacedRanks placed_ranks(const train::Job& job, int ranks, int per_node) {
  PlacedRanks placed;
  const std::vector<Placement> all = parallel::place(*job.split, *job.strategy, ranks);
  placed.batching = train::divide_batch(job, all[0].shares);
  for (int rank = 0; rank < ranks; ++rank) {
    auto kind = std::ranges::find_if(placed.kinds, [&](const auto& each) { return alike(each.placement, all[rank]); });
    if (kind == placed.kinds.end())
      kind = placed.kinds.insert(kind, kind_of(job, placed.batching, all[rank], per_node));
    kind->ranks.push_back(rank);
  }
  if (placed.batching.ways > 1) {
    graph::PlanOptions options = train::plan_options(job);
    options.memory_limit = 0;
    const graph::Plan whole = graph::make_plan(job.model.graph(placed.batching.rows), options);
    placed.whole_memory_bytes = whole.memory_bytes();
    placed.whole_flops = whole.flops() * static_cast<double>(placed.batching.micro_batches);
  }
  return placed;
}

}  // namespace

PlacedRanks place_ranks(const train::Job& job, int ranks, int per_node) {
  PlacedRanks placed = placed_ranks(job, ranks, per_node);
  Args recipe(job.recipe, "recipe");
  placed.composition = parallel::read_composition(recipe);
  placed.steps_per_epoch = job.train_data->size() / placed.batching.batch;
  return placed;
}

PlacedRanks place_ranks(const BareNetwork& network, int ranks, int per_node) {
  train::Job job;
  parallel::Composition composition{network.split, network.strategy};
  job.model.graph = network.graph;
  job.optimizer = make(optim::optimizers(), network.optimizer, "optimizer");
  job.split = make(split::splits(), composition.split, "split", &composition.split);
  job.strategy = make(parallel::strategies(), composition.strategy, "strategy", &composition.strategy);
  if (job.strategy->traits().by_layer) parallel::tell_layers(*job.strategy, job.model.graph(1));
  job.batch = network.batch;
  job.memory_limit = network.memory_limit;
  PlacedRanks placed = placed_ranks(job, ranks, per_node);
  placed.composition = composition;
  return placed;
}

}  // namespace isobar::run
