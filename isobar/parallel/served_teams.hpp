// ServedTeams: teams of ranks that each train by an inner strategy, and between them parameter servers: the last ranks.
// What is between teams decides who waits for whom. Teams of one rank train alone. A team of one that dies stops
// nobody; all need the first team, which writes the files, and the servers.
#pragma once

#include "isobar/parallel/server_outers.hpp"
#include "isobar/parallel/server_rule.hpp"

namespace isobar::parallel {

/// What is between teams.
struct Between {
  std::string name;  ///< of the strategy that has it between single ranks: "async"
  comm::Pace pace = comm::Pace::free;
  std::function<std::unique_ptr<ServerRule>()> rule{};             ///< of every server
  std::function<std::unique_ptr<Outer>(TeamLine& line)> pushes{};  ///< what teams push, and when
  bool keeps_slots = true;  ///< servers keep the state of the optimizer; otherwise those that train do
};

/// What all strategies with servers read: how many serve, and how long ranks wait. Refuses what they cannot do.
struct ServedOptions {
  int servers = 1;
  bool by_layer = false;  ///< a server for every layer that is trained
  comm::ReducerOptions limits{};
};
ServedOptions read_served_options(Args& args);

/// Reads what is between teams, named by its strategy; `resolved` gets all defaults.
Between read_between(Spec spec, Spec* resolved = nullptr);
Between read_async(Args& args);
Between read_stale(Args& args);

/// The momentum that an optimizer needs so that it and the staleness of so many free teams come to `wanted` in all
/// (Mitliagkas et al. 2016): with many teams below zero.
double advised_momentum(double wanted, int teams);

/// Teams of `of` ranks.
std::unique_ptr<Strategy> serve_teams(std::string name, int of, std::unique_ptr<Strategy> inner, Between between,
                                      const ServedOptions& options);

}  // namespace isobar::parallel
