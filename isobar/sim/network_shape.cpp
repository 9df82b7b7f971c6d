#include "isobar/sim/network_shape.hpp"

#include <functional>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::sim {

namespace {

using Kind = NetworkModel::Kind;
using Numbers = std::vector<std::int64_t>;

// A link costs SimGrid about a kilobyte: what is larger than this is a slip of the pen.
constexpr std::int64_t most_links = 4'000'000;
constexpr std::int64_t most_nodes = 1'000'000;
// Every node of a torus is a zone of its own, and SimGrid looks through all of them for each link it makes.
constexpr std::int64_t most_nodes_of_torus = 20'000;

double product(Numbers::const_iterator begin, Numbers::const_iterator end) {
  return std::accumulate(begin, end, 1.0, [](double all, std::int64_t one) { return all * one; });
}

double product(const Numbers& numbers) { return product(numbers.begin(), numbers.end()); }

double links_of_fat_tree(const NetworkModel& network) {
  double links = 0;
  for (std::size_t level = 0; level < network.shape.size(); ++level) {
    const double below = product(network.up.begin(), network.up.begin() + level) *
                         product(network.shape.begin() + level, network.shape.end());
    links += below * network.up[level] * network.parallel[level];
  }
  return 2 * links;
}

double links_of_dragonfly(const Numbers& shape) {
  const double groups = shape[0], chassis = shape[1], routers = shape[2], nodes = shape[3];
  const double within_chassis = groups * chassis * routers * (routers - 1);
  const double within_groups = groups * routers * chassis * (chassis - 1);
  return within_chassis + within_groups + groups * (groups - 1) + 2 * groups * chassis * routers * nodes;
}

double links(const NetworkModel& network) {
  switch (network.kind) {
    case Kind::crossbar: return 0;
    case Kind::fat_tree: return links_of_fat_tree(network);
    case Kind::dragonfly: return links_of_dragonfly(network.shape);
    case Kind::torus: return 2 * product(network.shape) * (network.shape.size() + 1);
  }
  return 0;
}

std::string list_problem(std::string_view key, const Numbers& list, std::size_t length, std::string_view meaning) {
  if (list.size() != length)
    return fmt::format("{} = {} has {} numbers; {} are needed: {}", key, list, list.size(), length, meaning);
  for (const std::int64_t number : list)
    if (number < 1 || number > most_nodes)
      return fmt::format("{} = {}: {} is not from 1 to {}", key, list, number, with_commas(most_nodes));
  return "";
}

std::string lists_problem(const NetworkModel& network) {
  const std::size_t length = network.shape.size();
  switch (network.kind) {
    case Kind::crossbar: return "";
    case Kind::torus:
      if (length == 0) return "shape = [] is empty; a torus needs its dimensions, [8, 8, 8]";
      return list_problem("shape", network.shape, length, "its dimensions");
    case Kind::dragonfly: {
      std::string problem = list_problem("shape", network.shape, 4, "groups, chassis, routers, nodes per router");
      if (problem.empty())
        problem = list_problem("parallel", network.parallel, 3, "links between groups, chassis and routers");
      return problem;
    }
    case Kind::fat_tree: {
      if (length == 0) return "shape = [] is empty; a fat tree needs the links down by level, [18, 16, 16]";
      std::string problem = list_problem("shape", network.shape, length, "links down by level");
      if (problem.empty()) problem = list_problem("up", network.up, length, "links up by level, as many as in shape");
      if (problem.empty())
        problem = list_problem("parallel", network.parallel, length, "parallel links by level, as many as in shape");
      if (problem.empty() && network.up[0] * network.parallel[0] != 1)
        problem = fmt::format(
            "up = {} and parallel = {} begin with {} and {}, not 1; several links of a node are written "
            "as one, as fast as all of them",
            network.up, network.parallel, network.up[0], network.parallel[0]);
      return problem;
    }
  }
  return "";
}

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::crossbar: return "crossbar";
    case Kind::fat_tree: return "fat_tree";
    case Kind::dragonfly: return "dragonfly";
    case Kind::torus: return "torus";
  }
  return "";
}

std::int64_t places(const NetworkModel& network) {
  if (network.kind == Kind::crossbar) return most_nodes;
  const double all = product(network.shape);
  return all > 1e18 ? std::int64_t{1} << 60 : static_cast<std::int64_t>(all);
}

std::string shape_problem(const NetworkModel& network, std::int64_t nodes) {
  if (std::string problem = lists_problem(network); !problem.empty()) return problem;
  if (network.kind == Kind::dragonfly && network.shape[0] > network.shape[2])
    return fmt::format(
        "shape = {}: {} groups with {} routers in a chassis cannot be routed; SimGrid needs at most as many groups as "
        "routers in a chassis: fewer, larger chassis can stand in",
        network.shape, network.shape[0], network.shape[2]);
  if (links(network) > most_links)
    return fmt::format("shape = {} has {:.3g} links; at most {} can be simulated", network.shape, links(network),
                       with_commas(most_links));
  if (network.kind == Kind::torus && places(network) > most_nodes_of_torus)
    return fmt::format("shape = {} holds {} nodes; SimGrid builds a torus of at most {} in reasonable time",
                       network.shape, with_commas(places(network)), with_commas(most_nodes_of_torus));
  if (places(network) < nodes)
    return fmt::format("shape = {} holds {} nodes, fewer than nodes = {}", network.shape, with_commas(places(network)),
                       with_commas(nodes));
  return "";
}

}  // namespace isobar::sim
