// The shipped platform files: each is read, built, and tells where its numbers come from.
#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isobar/sim/in_child.hpp"
#include "isobar/sim/platform.hpp"
#include "isobar/sim/topology.hpp"

namespace isobar::sim {
namespace {

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

TEST(Platforms, AreThoseExpected) {
  EXPECT_EQ(platform_names(), (std::vector<std::string>{"cori", "ethernet", "here", "stampede2", "summit", "theta"}));
}

TEST(Platforms, AreReadWithPlausibleNumbers) {
  for (const std::string& name : platform_names()) {
    SCOPED_TRACE(name);
    const Platform platform = read_platform(name);
    EXPECT_EQ(platform.name, name);
    EXPECT_FALSE(platform.summary.empty());
    EXPECT_GE(platform.network.latency, platform.network.hop_latency);
    EXPECT_GT(platform.file_system.bytes_per_second, 0);
    EXPECT_LE(platform.file_system.client_bytes_per_second, platform.file_system.bytes_per_second);
    EXPECT_LT(platform.noise.sigma, 0.2);
  }
}

TEST(Platforms, GiveTheSourceOfEveryNumber) {
  for (const std::string& name : platform_names()) {
    std::istringstream lines{std::string(platform_text(name))};
    for (std::string line; std::getline(lines, line);) {
      const std::size_t comment = line.find('#');
      if (!has_digit(line.substr(0, comment))) continue;
      ASSERT_NE(comment, std::string::npos) << name << ": " << line;
      const std::string words = line.substr(comment);
      EXPECT_GE(std::count_if(words.begin(), words.end(), [](unsigned char c) { return std::isalpha(c); }), 4)
          << name << ": " << line;
    }
  }
}

TEST(Platforms, CanBeBuiltSmallAndWhole) {
  for (const std::string& name : platform_names()) {
    SCOPED_TRACE(name);
    const Platform platform = read_platform(name);
    for (const int nodes : {std::min(platform.nodes, 64), platform.nodes}) {
      const std::string seen = in_child([&] {
        const Topology topology(platform, nodes);
        std::vector<int> links;
        const double near = topology.route(0, 1, links), far = topology.route(0, nodes - 1, links);
        double slowest = topology.capacity(links.front());
        for (const int link : links) slowest = std::min(slowest, topology.capacity(link));
        const bool right = near <= far && far < 1e-3 && slowest > 1e8 && topology.nodes() == nodes;
        return fmt::format("{}", right ? "right" : "wrong");
      });
      EXPECT_EQ(seen, "right") << nodes << " nodes";
    }
  }
}

}  // namespace
}  // namespace isobar::sim
