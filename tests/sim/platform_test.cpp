// Platform files: what is read from them in which unit, and the words for what is wrong in them.
#include "isobar/sim/platform.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::sim {
namespace {

using tests::error_of;

const std::string good = R"(
name = "small"
summary = "a small one"
nodes = 12
[node]
gflops = 535
cores = 68
ranks = 2
memory_gb_s = 80
inside_gb_s = 40
inside_us = 0.5
storage_gb_s = 2
[network]
kind = "fat_tree"
shape = [4, 3]
up = [1, 2]
parallel = [1, 3]
link_gb_s = 12.5
injection_gb_s = 10
latency_us = 1.5
hop_us = 0.1
message_us = 0.4
efficiency = 0.9
[file_system]
gb_s = 700
client_gb_s = 1.5
[burst_buffer]
gb_s = 1700
client_gb_s = 3
[noise]
sigma = 0.02
straggler_probability = 1e-4
straggler_ms = 200
[failures]
node_hours = 50_000
restart_s = 120
)";

/// The good text with `from` replaced, once.
std::string edited(const std::string& from, const std::string& to) {
  std::string text = good;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Platform, IsReadIntoSecondsAndBytes) {
  const Platform read = parse_platform(good, "file.toml");
  EXPECT_EQ(read.name, "small");
  EXPECT_EQ(read.summary, "a small one");
  EXPECT_EQ(read.nodes, 12);
  EXPECT_DOUBLE_EQ(read.node.flops_per_second, 535e9);
  EXPECT_EQ(read.node.cores, 68);
  EXPECT_EQ(read.node.ranks, 2);
  EXPECT_DOUBLE_EQ(read.node.memory_bytes_per_second, 80e9);
  EXPECT_DOUBLE_EQ(read.node.inside_bytes_per_second, 40e9);
  EXPECT_DOUBLE_EQ(read.node.inside_latency, 0.5e-6);
  EXPECT_DOUBLE_EQ(read.node.storage_bytes_per_second, 2e9);
  EXPECT_EQ(read.network.kind, NetworkModel::Kind::fat_tree);
  EXPECT_EQ(read.network.shape, (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(read.network.up, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(read.network.parallel, (std::vector<std::int64_t>{1, 3}));
  EXPECT_DOUBLE_EQ(read.network.link_bytes_per_second, 12.5e9);
  EXPECT_DOUBLE_EQ(read.network.injection_bytes_per_second, 10e9);
  EXPECT_DOUBLE_EQ(read.network.latency, 1.5e-6);
  EXPECT_DOUBLE_EQ(read.network.hop_latency, 0.1e-6);
  EXPECT_DOUBLE_EQ(read.network.message_overhead, 0.4e-6);
  EXPECT_DOUBLE_EQ(read.network.efficiency, 0.9);
  EXPECT_DOUBLE_EQ(read.file_system.bytes_per_second, 700e9);
  EXPECT_DOUBLE_EQ(read.file_system.client_bytes_per_second, 1.5e9);
  EXPECT_DOUBLE_EQ(read.burst_buffer.bytes_per_second, 1.7e12);
  EXPECT_DOUBLE_EQ(read.burst_buffer.client_bytes_per_second, 3e9);
  EXPECT_DOUBLE_EQ(read.noise.sigma, 0.02);
  EXPECT_DOUBLE_EQ(read.noise.straggler_probability, 1e-4);
  EXPECT_DOUBLE_EQ(read.noise.straggler_seconds, 0.2);
  EXPECT_DOUBLE_EQ(read.failures.node_hours, 50'000);
  EXPECT_DOUBLE_EQ(read.failures.restart_seconds, 120);
}

TEST(Platform, MayLeaveOutWhatHasAnObviousValue) {
  const Platform read = parse_platform(
      "nodes = 3\n[node]\ngflops = 1\ncores = 1\nmemory_gb_s = 1\ninside_gb_s = 1\ninside_us = 0\n"
      "[network]\nkind = 'crossbar'\nlink_gb_s = 10\nlatency_us = 5\n",
      "machines/mine.toml");
  EXPECT_EQ(read.name, "mine");
  EXPECT_EQ(read.node.ranks, 1);
  EXPECT_EQ(read.network.injection_bytes_per_second, read.network.link_bytes_per_second);
  EXPECT_EQ(read.network.efficiency, 1);
  EXPECT_EQ(read.file_system.bytes_per_second, 0);
  EXPECT_EQ(read.noise.sigma, 0);
  EXPECT_EQ(read.failures.node_hours, 0);
  EXPECT_EQ(parse_platform(edited("parallel = [1, 3]\n", ""), "x").network.parallel, (std::vector<std::int64_t>{1, 1}));
}

TEST(Platform, SaysWhatIsWrongInAFile) {
  const std::string dragonfly = "kind = \"dragonfly\"\nshape = [8, 3, 4, 4]";
  const struct {
    std::string text, message;
  } cases[] = {
      {edited("nodes = 12\n", ""), "key 'nodes' (whole number) is missing"},
      {edited("nodes = 12", "nodes = 0"), "nodes = 0 is not a whole number from 1 to 1,000,000"},
      {edited("nodes = 12", "nodes = 1.5"), "nodes = 1.5 is not a whole number"},
      {edited("nodes = 12", "nodes = 13"), "section 'network': shape = [4, 3] holds 12 nodes, fewer than nodes = 13"},
      {edited("summary", "sumary"), "unknown key 'sumary' (did you mean 'summary'?)"},
      {edited("[noise]", "[noice]"), "unknown key 'noice' (did you mean 'noise'?)"},
      {edited("gflops = 535\n", ""), "section 'node': key 'gflops' (number) is missing"},
      {edited("gflops = 535", "gflops = -3"), "section 'node': gflops = -3 is not a number above 0"},
      {edited("gflops = 535", "gflops = \"fast\""), "section 'node': gflops = 'fast' is not a number"},
      {edited("gflops = 535", "gflops = inf"), "section 'node': gflops = inf is not a number above 0"},
      {edited("cores = 68", "cors = 68"), "section 'node': key 'cores' (whole number) is missing"},
      {edited("ranks = 2", "rank = 2"), "section 'node': unknown key 'rank' (did you mean 'ranks'?)"},
      {edited("ranks = 2", "ranks = 0"), "section 'node': ranks = 0 is not a whole number from 1 to 1,000,000"},
      {edited("storage_gb_s = 2", "storage_gb_s = -2"),
       "section 'node': storage_gb_s = -2 is not a number of at least 0"},
      {edited("kind = \"fat_tree\"\n", ""), "section 'network': key 'kind' (text) is missing"},
      {edited("fat_tree", "hypercube"),
       "section 'network': kind = hypercube is not one of crossbar, fat_tree, dragonfly, torus"},
      {edited("fat_tree", "torus"), "section 'network': a torus has no 'up'"},
      {edited("fat_tree", "crossbar"), "section 'network': a crossbar has no 'shape'"},
      {edited("up = [1, 2]", "up = [1]"),
       "section 'network': up = [1] has 1 numbers; 2 are needed: links up by level, as many as in shape"},
      {edited("up = [1, 2]\n", ""),
       "section 'network': up = [] has 0 numbers; 2 are needed: links up by level, as many as in shape"},
      {edited("parallel = [1, 3]", "parallel = [1, 0]"),
       "section 'network': parallel = [1, 0]: 0 is not from 1 to 1,000,000"},
      {edited("up = [1, 2]", "up = [2, 2]"),
       "section 'network': up = [2, 2] and parallel = [1, 3] begin with 2 and 1, not 1; several links of a node are "
       "written as one, as fast as all of them"},
      {edited("shape = [4, 3]", "shape = [4000, 3000]"),
       "section 'network': shape = [4000, 3000] has 2.4e+07 links; at most 4,000,000 can be simulated"},
      {edited("shape = [4, 3]", "shape = [4, 3.5]"),
       "section 'network': shape = [4, 3.5] is not a list of whole numbers"},
      {edited("kind = \"fat_tree\"\nshape = [4, 3]\nup = [1, 2]\nparallel = [1, 3]",
              "kind = \"torus\"\nshape = [40, 40, 40]"),
       "section 'network': shape = [40, 40, 40] holds 64,000 nodes; SimGrid builds a torus of at most 20,000 in "
       "reasonable time"},
      {edited("kind = \"fat_tree\"\nshape = [4, 3]\nup = [1, 2]\nparallel = [1, 3]", dragonfly),
       "section 'network': shape = [8, 3, 4, 4]: 8 groups with 4 routers in a chassis cannot be routed; SimGrid needs "
       "at most as many groups as routers in a chassis: fewer, larger chassis can stand in"},
      {edited("kind = \"fat_tree\"\nshape = [4, 3]\nup = [1, 2]", "kind = \"dragonfly\"\nshape = [2, 2, 4]"),
       "section 'network': shape = [2, 2, 4] has 3 numbers; 4 are needed: groups, chassis, routers, nodes per router"},
      {edited("link_gb_s = 12.5", "link_gb_s = 0"), "section 'network': link_gb_s = 0 is not a number above 0"},
      {edited("latency_us = 1.5\n", ""), "section 'network': key 'latency_us' (number) is missing"},
      {edited("hop_us = 0.1", "hop_us = -0.1"), "section 'network': hop_us = -0.1 is not a number of at least 0"},
      {edited("efficiency = 0.9", "efficiency = 1.2"),
       "section 'network': efficiency = 1.2 is not above 0 and at most 1"},
      {edited("efficiency = 0.9", "efficiency = 0"), "section 'network': efficiency = 0 is not above 0 and at most 1"},
      {edited("efficiency = 0.9", "efficiency = nan"),
       "section 'network': efficiency = nan is not above 0 and at most 1"},
      {edited("client_gb_s = 1.5\n", ""), "section 'file_system': key 'client_gb_s' (number) is missing"},
      {edited("straggler_probability = 1e-4", "straggler_probability = 2"),
       "section 'noise': straggler_probability = 2 is not from 0 to 1"},
      {edited("node_hours = 50_000", "node_hours = 0"), "section 'failures': node_hours = 0 is not a number above 0"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_EQ(error_of([&] { parse_platform(text, "bad.toml"); }), "platform bad.toml: " + message);
  EXPECT_HAS(error_of([&] { parse_platform(edited("[node]", "[node"), "bad.toml"); }), "bad.toml:5:");
  EXPECT_THROW(parse_platform("", "bad.toml"), UsageError);
}

TEST(Platform, IsReadByNameOrFromAFile) {
  EXPECT_EQ(read_platform("cori").name, "cori");
  EXPECT_HAS(std::string(platform_text("cori")), "[network]");
  const tests::TemporaryFolder folder;
  std::ofstream(folder / "own.toml") << good;
  EXPECT_EQ(read_platform(folder / "own.toml").nodes, 12);
  EXPECT_EQ(error_of([] { read_platform("summmit"); }),
            "platform 'summmit' is neither a file that can be opened nor shipped (did you mean 'summit'?)");
  EXPECT_HAS(error_of([] { read_platform("nowhere/at/all.toml"); }), "; known: cori, ethernet, ");
  EXPECT_HAS(error_of([&] { read_platform(folder.path().string()); }), "is a directory");
  EXPECT_THROW(platform_text("cory"), UsageError);
}

}  // namespace
}  // namespace isobar::sim
