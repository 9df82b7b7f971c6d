#include <atomic>
#include <new>

#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi::tests {
namespace {

using namespace comm;

TEST(MappedMemory, EveryRankSeesThePartsOfAll) {
  Comm& comm = ranks();
  const auto node = comm.among(ranks_of_node(comm.group()));
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{16} << 20}) {
    const auto memory = node->share(bytes);
    const auto mine = memory->part(node->rank());
    EXPECT_EQ(mine.size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mine.data()) % 64, 0u);
    for (const std::byte each : mine) ASSERT_EQ(each, std::byte{0});
    barrier(*node);
    const Bytes wanted = pattern(bytes, node->rank());
    std::copy(wanted.begin(), wanted.end(), mine.begin());
    barrier(*node);
    for (int rank = 0; rank < node->size(); ++rank) {
      const auto theirs = memory->part(rank);
      EXPECT_TRUE(std::ranges::equal(theirs, pattern(bytes, rank))) << rank;
    }
    barrier(*node);
  }
}

// Ranks agree through numbers in the memory; a rank that drops its view waits for no other.
TEST(MappedMemory, CarriesAtomicNumbersAndOutlivesWhoeverDropsIt) {
  Comm& comm = ranks();
  const auto node = comm.among(ranks_of_node(comm.group()));
  auto memory = node->share(64);
  auto& counter = *reinterpret_cast<std::atomic<std::uint64_t>*>(memory->part(0).data());
  for (int i = 0; i < 10'000; ++i) ++counter;
  barrier(*node);
  EXPECT_EQ(counter, 10'000u * static_cast<unsigned>(node->size()));
  barrier(*node);
  if (node->rank() == 0) memory.reset();
  barrier(*node);
  if (memory) {
    EXPECT_EQ(counter, 10'000u * static_cast<unsigned>(node->size()));
  }
}

TEST(MappedMemory, TooMuchIsRefusedOnAllRanks) {
  Comm& comm = ranks();
  const auto node = comm.among(ranks_of_node(comm.group()));
  EXPECT_THROW(node->share(std::size_t{1} << 60), Error);
  barrier(*node);
}

}  // namespace
}  // namespace isobar::comm_mpi::tests
