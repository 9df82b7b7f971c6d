#include "isobar/comm_mpi/world.hpp"

#include <cstdlib>
#include <unistd.h>

#include "isobar/machine/links.hpp"

#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi::tests {
namespace {

using namespace comm;

TEST(World, KnowsItsLibraryAndItsHosts) {
  EXPECT_TRUE(world().version().starts_with(library())) << world().version();
  EXPECT_EQ(world().comm().carrier(), world().version()) << "what is measured with one library is not for another";
  EXPECT_NE(world().version().find('.'), std::string::npos) << world().version();
  EXPECT_TRUE(world().thread_level() == "serialized" || world().thread_level() == "multiple");
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  const auto hosts = world().hosts();
  ASSERT_EQ(hosts.size(), static_cast<std::size_t>(ranks().size()));
  EXPECT_EQ(hosts[static_cast<std::size_t>(ranks().rank())], name);
}

TEST(World, NodesAreCountedInTheOrderOfTheRanks) {
  const auto& nodes = ranks().nodes();
  ASSERT_EQ(nodes.size(), static_cast<std::size_t>(ranks().size()));
  const char* per_node = std::getenv("ISOBAR_RANKS_PER_NODE");
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    EXPECT_EQ(nodes[rank], per_node ? static_cast<int>(rank) / std::atoi(per_node) : 0);
  EXPECT_EQ(world().node_count(), nodes.back() + 1);
}

TEST(World, MeasuresItsLinks) {
  const machine::Links links = machine::measure_links(ranks());
  ASSERT_EQ(links.latency_us.size(), static_cast<std::size_t>(ranks().size() - 1));
  for (const double latency : links.latency_us) EXPECT_GT(latency, 0);
  if (ranks().rank() == 0)
    for (std::size_t i = 0; i < links.latency_us.size(); ++i)
      std::printf("link %zu: %.2f us, %.0f MB/s\n", i, links.latency_us[i], links.mb_per_second[i]);
}

}  // namespace
}  // namespace isobar::comm_mpi::tests
