// ServedParts: what strategies with parameter servers have in common: who serves which parameters, and what that takes.
#pragma once

#include "isobar/parallel/served_teams.hpp"
#include "isobar/parallel/server_link.hpp"

namespace isobar::parallel {

/// The layer a parameter belongs to: "conv1" of "conv1.weight".
std::string layer_of(std::string_view parameter);

/// Which server keeps which parameter. The last ranks serve.
class ServedParts {
 public:
  explicit ServedParts(const ServedOptions& options) : options_(options) {}

  /// The layers that are trained, before servers are counted.
  void set_layers(std::vector<std::string> layers) { layers_ = std::move(layers); }
  int servers() const { return options_.by_layer ? static_cast<int>(layers_.size()) : options_.servers; }
  /// How many ranks of so many train; too few are a UsageError, where so many are needed for a team.
  int trainers(std::string_view strategy, int ranks, int of = 1) const;
  /// Says for each parameter who keeps it. With `trained_only`, ranks keep by themselves what is not trained.
  void deal(std::vector<ServedParameter>& parameters, std::span<const std::string> layers, bool trained_only) const;
  std::vector<ServedParameter> dealt(const Replica& replica, bool trained_only) const;
  std::vector<ServedParameter> dealt(const PlannedRank& rank, bool trained_only) const;
  /// What a step takes of a rank that talks with the servers.
  StepNeeds needs_of_worker(const PlannedRank& rank, bool trained_only) const;
  /// Of the server with the most to keep, for so many workers.
  StepNeeds needs_of_server(const PlannedRank& rank, const ServerRule& rule, int workers, bool trained_only) const;

  const comm::ReducerOptions& limits() const { return options_.limits; }
  std::string describe() const;

 private:
  ServedOptions options_;
  std::vector<std::string> layers_;
};

/// Who serves: the comm among servers of this one, made by all of them together.
ServedModel::Crew serving_crew(comm::Comm& world, int servers, std::vector<int> workers);

}  // namespace isobar::parallel
