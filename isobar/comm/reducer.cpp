#include "isobar/comm/reducer.hpp"

#include <algorithm>
#include <bit>

#include "isobar/comm/measured_choice.hpp"
#include "isobar/comm/reducers.hpp"

namespace isobar::comm {
namespace {

void expect_known(const std::string& name) {
  std::vector<std::string> known = names(all_reduces());
  known.insert(known.end(), {"auto", "native", "shared"});
  if (std::ranges::find(known, name) == known.end())
    fail_usage("unknown algorithm '{}'{}", name, suggestion(name, known));
}

std::unique_ptr<Reducer> background_reducer(Comm& comm, GradientMemory& memory, const ReducerOptions& options) {
  // Ranks of one node that do not add in shared memory send each other messages, as if each were a node.
  const int nodes = nodes_of(comm.group());
  const bool many_per_node = nodes > 1 && nodes < comm.size();
  const std::vector<Spec> algorithms = candidates(options.algorithm, many_per_node);
  auto reducer = std::make_unique<BackgroundReducer>(comm, memory, options,
                                                     /*by_nodes=*/between_nodes(algorithms[0]).has_value());
  std::vector<std::unique_ptr<Route>> routes;
  for (const Spec& algorithm : algorithms) {
    const std::optional<Spec> outer = between_nodes(algorithm);
    routes.push_back(outer ? node_route(reducer->place(), *outer) : flat_route(reducer->place(), algorithm));
  }
  choose_routes(comm, *reducer, std::move(routes), options);
  return reducer;
}

}  // namespace

std::unique_ptr<Reducer> Comm::own_reducer(GradientMemory&, const ReducerOptions&) { return nullptr; }

int nodes_of(const Group& group) { return group.nodes.empty() ? group.size : std::ranges::max(group.nodes) + 1; }

bool adds_in_shared_memory(const ReducerOptions& options, int nodes) {
  const std::string& name = options.algorithm.name();
  const bool can = name == "auto" || name == "shared" || name == "reproducible" ||
                   (name == "hierarchical" && !options.algorithm.find("inner"));
  return nodes == 1 && can && options.codec->is_plain();
}

std::unique_ptr<Reducer> make_reducer(Comm& comm, GradientMemory& memory, const ReducerOptions& options) {
  const std::string& name = options.algorithm.name();
  expect_known(name);
  if (auto own = comm.own_reducer(memory, options)) return own;
  const bool plain = options.codec->is_plain();
  const int nodes = nodes_of(comm.group());
  if (options.codec->carriage() == codec::Carriage::gathered) {
    if (name != "auto")
      fail_usage("algorithm '{}' adds numbers on their way, which those of codec '{}' cannot be; use algorithm 'auto'",
                 name, options.codec->describe());
    ReducerOptions exact = options;
    exact.codec = codec::plain();
    return gathered_reducer(comm, make_reducer(comm, memory, exact), options);
  }
  if (!plain && comm.size() > 1 && (name == "native" || name == "shared" || (name == "hierarchical" && nodes == 1)))
    fail_usage("algorithm '{}' adds numbers as they are and cannot carry codec '{}'; 'auto' chooses one that can", name,
               options.codec->describe());
  if (name == "native" && (comm.size() > 1 || comm.elastic())) return native_reducer(comm, memory);
  if (comm.size() == 1) return lone_reducer(comm, memory);
  if (name == "shared" && nodes > 1)
    fail_usage("algorithm 'shared': the ranks are on {} nodes; 'auto' or 'hierarchical' sums between nodes too", nodes);
  if (name == "reproducible" && !std::has_single_bit(static_cast<unsigned>(comm.size())))
    fail_usage("algorithm 'reproducible': {} ranks; their number must be a power of two", comm.size());
  if (adds_in_shared_memory(options, nodes)) return shared_reducer(comm, memory, options);
  return background_reducer(comm, memory, options);
}

}  // namespace isobar::comm
