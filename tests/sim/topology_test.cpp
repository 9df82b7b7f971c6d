// Networks built in SimGrid: routes, capacities and what flows over them take, each in a process of its own.
#include "isobar/sim/topology.hpp"

#include <set>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/sim/in_child.hpp"

#include "tests/expect_error.hpp"

namespace isobar::sim {
namespace {

Platform platform(int nodes, const std::string& network) {
  return parse_platform(fmt::format("nodes = {}\n[node]\ngflops = 100\ncores = 4\nmemory_gb_s = 10\ninside_gb_s = 40\n"
                                    "inside_us = 0.5\n[network]\nlatency_us = 2\nhop_us = 0.1\n{}",
                                    nodes, network),
                        "test.toml");
}

const std::string crossbar = "kind = 'crossbar'\nlink_gb_s = 10\n";
const std::string fat_tree = "kind = 'fat_tree'\nshape = [4, 4]\nup = [1, 2]\nlink_gb_s = 10\n";
const std::string dragonfly =
    "kind = 'dragonfly'\nshape = [3, 2, 4, 2]\nparallel = [6, 3, 2]\nlink_gb_s = 5\ninjection_gb_s = 8\n";
const std::string one_chassis =
    "kind = 'dragonfly'\nshape = [3, 1, 4, 2]\nparallel = [6, 1, 2]\nlink_gb_s = 5\ninjection_gb_s = 8\n";
const std::string torus = "kind = 'torus'\nshape = [4, 6]\nlink_gb_s = 10\n";

std::vector<double> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> read;
  for (double number = 0; in >> number;) read.push_back(number);
  return read;
}

struct Seen {
  double microseconds = 0;
  std::vector<double> capacities{};  ///< GB/s, in the order of the route
};

Seen route(const Platform& on, int from, int to) {
  std::vector<double> read = numbers(in_child([&] {
    const Topology topology(on, on.nodes);
    std::vector<int> links;
    const double latency = topology.route(from, to, links);
    std::vector<double> told{latency * 1e6};
    for (const int link : links) told.push_back(topology.capacity(link) / 1e9);
    return fmt::format("{}", fmt::join(told, " "));
  }));
  return {read[0], {read.begin() + 1, read.end()}};
}

struct Flow {
  int from = 0, to = 0;
  double gigabytes = 0;
};

/// When each of some flows that start together is over, in seconds.
std::vector<double> ends(const Platform& on, const std::vector<Flow>& flows) {
  return numbers(in_child([&] {
    const Topology topology(on, on.nodes);
    std::vector<double> over(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i)
      simgrid::s4u::Actor::create("flow", topology.host(flows[i].from), [&, i] {
        const auto bytes = static_cast<std::uint64_t>(flows[i].gigabytes * 1e9);
        simgrid::s4u::Comm::sendto(topology.host(flows[i].from), topology.host(flows[i].to), bytes);
        over[i] = simgrid::s4u::Engine::get_clock();
      });
    simgrid::s4u::Engine::get_instance()->run();
    return fmt::format("{}", fmt::join(over, " "));
  }));
}

void expect_near(const std::vector<double>& seen, const std::vector<double>& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], expected[i], 1e-6 * expected[i]) << "number " << i;
}

TEST(Topology, RoutesWithinANodeTakeItsInsideLink) {
  for (const std::string& network : {crossbar, fat_tree, dragonfly, torus}) {
    const Seen seen = route(platform(16, network), 3, 3);
    EXPECT_NEAR(seen.microseconds, 0.5, 1e-9);
    expect_near(seen.capacities, {40});
  }
}

TEST(Topology, ACrossbarHasOneSwitch) {
  const Seen seen = route(platform(5, crossbar + "efficiency = 0.9\n"), 0, 4);
  EXPECT_NEAR(seen.microseconds, 2, 1e-9);
  expect_near(seen.capacities, {9, 9});
}

TEST(Topology, AFatTreeTellsNeighboursFromFarNodes) {
  const Platform tree = platform(16, fat_tree + "efficiency = 0.8\ninjection_gb_s = 6\n");
  const Seen near = route(tree, 0, 3), far = route(tree, 0, 4);
  EXPECT_NEAR(near.microseconds, 2, 1e-9);
  expect_near(near.capacities, {6, 6});
  EXPECT_NEAR(far.microseconds, 2.2, 1e-9);
  expect_near(far.capacities, {6, 8, 8, 6});
}

TEST(Topology, ADragonflyHasBundlesBetweenRoutersChassisAndGroups) {
  const Platform flies = platform(48, dragonfly);
  expect_near(route(flies, 0, 1).capacities, {8, 8});
  expect_near(route(flies, 0, 2).capacities, {8, 10, 8});
  expect_near(route(flies, 0, 8).capacities, {8, 15, 8});
  const Seen far = route(flies, 15, 47);
  expect_near(far.capacities, {8, 10, 15, 30, 10, 15, 8});
  EXPECT_NEAR(far.microseconds, 2.5, 1e-9);
}

TEST(Topology, ATorusGoesTheShorterWayAround) {
  const Platform ring = platform(24, torus + "injection_gb_s = 7\n");
  const Seen near = route(ring, 0, 3), far = route(ring, 0, 2 + 4 * 3);
  EXPECT_NEAR(near.microseconds, 2, 1e-9);
  expect_near(near.capacities, {7, 10, 7});
  EXPECT_NEAR(far.microseconds, 2.4, 1e-9);
  expect_near(far.capacities, {7, 10, 10, 10, 10, 10, 7});
}

TEST(Topology, RoutesAreAsLongBackAndNumbersAreDense) {
  for (const std::string& network : {crossbar, fat_tree, one_chassis, torus}) {
    const Platform on = platform(16, network);
    EXPECT_EQ(in_child([&]() -> std::string {
                const Topology topology(on, 14);
                if (topology.nodes() != 14) return "nodes";
                std::vector<int> there, back;
                for (int from = 0; from < 14; ++from)
                  for (int to = 0; to < 14; ++to) {
                    const double latency = topology.route(from, to, there);
                    if (latency != topology.route(to, from, back)) return "latency";
                    if (there.size() != back.size()) return "length";
                    if (std::set<int>(there.begin(), there.end()).size() != there.size()) return "a link twice";
                    for (const int link : there)
                      if (link < 0 || link >= topology.links() || topology.capacity(link) <= 0) return "number";
                    if (from != to && there.front() == back.back()) return "both directions on one link";
                  }
                return "right";
              }),
              "right")
        << network;
  }
}

TEST(Topology, FlowsTakeBytesByCapacityAndShareLinks) {
  const Platform star = platform(4, crossbar);
  expect_near(ends(star, {{0, 1, 5}}), {0.5});
  expect_near(ends(star, {{0, 1, 5}, {0, 2, 5}}), {1, 1});
  expect_near(ends(star, {{0, 2, 5}, {1, 2, 10}}), {1, 1.5});
  expect_near(ends(star, {{2, 2, 20}, {2, 2, 20}}), {1, 1});
  expect_near(ends(star, {{0, 1, 1e-6}}), {1e-7});
}

TEST(Topology, NodesSendAndReceiveAtOnce) {
  for (const std::string& network : {crossbar, fat_tree, dragonfly, torus}) {
    const Platform on = platform(16, network + (network == dragonfly ? "" : "injection_gb_s = 8\n"));
    expect_near(ends(on, {{0, 1, 4}, {1, 0, 4}}), {0.5, 0.5});
    expect_near(ends(on, {{0, 1, 4}, {1, 2, 4}, {2, 0, 4}}), {0.5, 0.5, 0.5});
  }
}

TEST(Topology, FlowsMeetInsideTheNetwork) {
  // All four nodes of a switch send to the next switch, two by each way up.
  expect_near(ends(platform(16, fat_tree), {{0, 4, 5}, {1, 5, 5}, {2, 6, 5}, {3, 7, 5}}), {1, 1, 1, 1});
  // Both nodes of a router send to the next router of their chassis.
  expect_near(ends(platform(48, dragonfly), {{0, 2, 5}, {1, 3, 5}}), {1, 1});
  // The node between takes no part in what passes it; the link behind it is shared.
  const Platform ring = platform(24, torus + "injection_gb_s = 9\n");
  expect_near(ends(ring, {{0, 2, 9}, {1, 2, 1}}), {10.0 / 9, 2.0 / 9});
  expect_near(ends(ring, {{0, 1, 9}, {2, 1, 9}, {1, 3, 9}}), {2, 2, 1});
}

TEST(Topology, RefusesMoreNodesThanThereAre) {
  const Platform star = platform(4, crossbar);
  EXPECT_EQ(tests::error_of([&] { in_child([&] { return Topology(star, 5), std::string(); }); }),
            "platform test has 4 nodes; 5 of them are not possible");
  EXPECT_THROW(in_child([&] { return Topology(star, 0), std::string(); }), UsageError);
}

}  // namespace
}  // namespace isobar::sim
