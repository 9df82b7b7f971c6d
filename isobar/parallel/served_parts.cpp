#include "isobar/parallel/served_parts.hpp"

#include <algorithm>
#include <numeric>

#include "isobar/base/text.hpp"

namespace isobar::parallel {
namespace {

constexpr int most_servers = 4096;

const char* plural(int count) { return count == 1 ? "" : "s"; }

}  // namespace

ServedOptions read_served_options(Args& args) {
  ServedOptions options;
  options.by_layer = args.text("servers", "1") == "layer";
  if (!options.by_layer) options.servers = static_cast<int>(args.integer("servers", 1));
  args.require(options.by_layer || (options.servers >= 1 && options.servers <= most_servers),
               "servers must lie between 1 and 4096, or be 'layer': one for each layer that is trained");
  args.require(args.spec("codec", "float").name() == "float",
               "codec must be float: gradients on their way to servers and weights on their way back are not encoded");
  args.require(!args.has("deterministic") || !args.flag("deterministic", false),
               "deterministic needs gradients that ranks add up among themselves; here servers apply them");
  options.limits.warn_seconds = args.real("warn_seconds", 10);
  options.limits.stall_seconds = args.real("stall_seconds", 60);
  args.require(options.limits.warn_seconds > 0, "warn_seconds must be above 0");
  args.require(options.limits.stall_seconds > 0, "stall_seconds must be above 0");
  return options;
}

std::string layer_of(std::string_view parameter) { return std::string(parameter.substr(0, parameter.rfind('.'))); }

int ServedParts::trainers(std::string_view strategy, int ranks, int of) const {
  const int training = ranks - servers();
  if (training < of)
    fail_usage("strategy '{}' needs {} rank{} to keep the parameters and at least {} that train{}, but there {} {}",
               strategy, servers(), plural(servers()), of == 1 ? "one" : std::to_string(of), of == 1 ? "s" : "",
               ranks == 1 ? "is" : "are", ranks);
  if (training % of != 0)
    fail_usage("strategy '{}': {} ranks without {} server{} cannot be divided into teams of {}; valid: {}, {}, {}, ...",
               strategy, ranks, servers(), plural(servers()), of, servers() + of, servers() + 2 * of,
               servers() + 3 * of);
  return training;
}

void ServedParts::deal(std::vector<ServedParameter>& parameters, std::span<const std::string> layers,
                       bool trained_only) const {
  if (options_.by_layer) {
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const auto layer = std::ranges::find(layers_, layers[p]);
      // Statistics of a layer without weights go to the first.
      parameters[p].server = layer == layers_.end() ? 0 : layer - layers_.begin();
      expects(layer != layers_.end() || !parameters[p].trained, "a server for every layer that is trained");
    }
  } else {
    const std::vector<int> server_of = deal_by_size(parameters, servers());
    for (std::size_t p = 0; p < parameters.size(); ++p) parameters[p].server = server_of[p];
  }
  for (ServedParameter& each : parameters)
    if (trained_only && !each.trained) each.server = -1;
}

std::vector<ServedParameter> ServedParts::dealt(const Replica& replica, bool trained_only) const {
  std::vector<ServedParameter> parameters;
  std::vector<std::string> layers;
  for (const ReplicaParameter& each : replica.parameters()) {
    parameters.push_back({each.weight.size(), each.rate_scale, each.decay_scale, each.trained});
    layers.push_back(layer_of(each.name));
  }
  deal(parameters, layers, trained_only);
  return parameters;
}

std::vector<ServedParameter> ServedParts::dealt(const PlannedRank& rank, bool trained_only) const {
  std::vector<ServedParameter> parameters;
  for (const exec::GradientPlace& place : rank.places)
    parameters.push_back({.count = place.count, .trained = place.trained});
  std::vector<std::string> layers;
  for (const std::string& name : rank.names) layers.push_back(layer_of(name));
  deal(parameters, layers, trained_only);
  return parameters;
}

// To every server that has something: a question, numbers and running statistics. They are copied, and so are the
// weights that return.
StepNeeds ServedParts::needs_of_worker(const PlannedRank& rank, bool trained_only) const {
  StepNeeds needs;
  std::vector<int> trained(servers()), statistics(servers());
  for (const ServedParameter& each : dealt(rank, trained_only)) {
    if (each.server < 0) continue;
    needs.traffic.bytes += static_cast<std::int64_t>(each.count * sizeof(float));
    needs.bytes += (each.trained ? 2 : 1) * each.count * sizeof(float);
    (each.trained ? trained : statistics)[each.server] = 1;
  }
  needs.traffic.messages = servers() + std::accumulate(trained.begin(), trained.end(), 0) +
                           std::accumulate(statistics.begin(), statistics.end(), 0);
  needs.traffic.bytes += servers() * static_cast<std::int64_t>(sizeof(Question));
  return needs;
}

// Weights and slots, the copies of its rule, and the running statistics of every worker. Each worker gets an answer and
// the weights.
StepNeeds ServedParts::needs_of_server(const PlannedRank& rank, const ServerRule& rule, int workers,
                                       bool trained_only) const {
  std::vector<StepNeeds> each(servers());
  for (const ServedParameter& parameter : dealt(rank, trained_only)) {
    if (parameter.server < 0) continue;
    StepNeeds& needs = each[parameter.server];
    const std::size_t bytes = parameter.count * sizeof(float);
    needs.bytes += (1 + (parameter.trained ? rank.slots + rule.copies(workers) : workers)) * bytes;
    if (parameter.trained) needs.traffic.bytes += workers * static_cast<std::int64_t>(bytes);
  }
  StepNeeds most = *std::ranges::max_element(each, {}, &StepNeeds::bytes);
  most.traffic.messages = 2 * workers;
  most.traffic.bytes += workers * static_cast<std::int64_t>(sizeof(Answer));
  return most;
}

std::string ServedParts::describe() const {
  return fmt::format("{} parameter server{}{}", servers(), plural(servers()),
                     options_.by_layer ? ", one for each layer" : "");
}

ServedModel::Crew serving_crew(comm::Comm& world, int servers, std::vector<int> workers) {
  std::vector<int> serving(servers);
  std::iota(serving.begin(), serving.end(), world.size() - servers);
  return {world, std::move(workers), world.among(serving)};
}

}  // namespace isobar::parallel
