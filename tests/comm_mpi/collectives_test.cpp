#include "isobar/comm/collectives.hpp"

#include <cmath>
#include <cstring>

#include "isobar/comm/schedule.hpp"

#include "tests/comm/added_codecs.hpp"
#include "tests/comm/members.hpp"
#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi::tests {
namespace {

using namespace comm;

constexpr std::size_t counts[] = {0, 1, 7, 10'001, 300'007};

TEST(Collectives, BroadcastReachesAllFromAnyRoot) {
  Comm& comm = ranks();
  for (const std::size_t count : counts)
    for (int root = 0; root < comm.size(); ++root) {
      Bytes bytes = comm.rank() == root ? pattern(count, root) : pattern(3, 99);
      broadcast(comm, bytes, root);
      EXPECT_EQ(bytes, pattern(count, root));
    }
}

TEST(Collectives, AllGatherOfDifferentLengths) {
  Comm& comm = ranks();
  for (const std::size_t count : counts) {
    const auto length = [&](int rank) { return count * static_cast<std::size_t>(rank % 3); };
    const std::vector<Bytes> all = all_gather(comm, pattern(length(comm.rank()), comm.rank()));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(comm.size()));
    for (int rank = 0; rank < comm.size(); ++rank)
      EXPECT_EQ(all[static_cast<std::size_t>(rank)], pattern(length(rank), rank));
  }
}

TEST(Collectives, WholeNumbersAndDoubles) {
  Comm& comm = ranks();
  const std::int64_t size = comm.size();
  std::vector<std::int64_t> numbers(1001);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = (std::int64_t{1} << 60) / size + comm.rank();
  sum_over_ranks(comm, numbers);
  EXPECT_EQ(numbers, std::vector<std::int64_t>(1001, (std::int64_t{1} << 60) / size * size + size * (size - 1) / 2));
  EXPECT_EQ(all_largest(comm, 0.25 - comm.rank()), 0.25);
}

TEST(Collectives, NobodyLeavesABarrierBeforeAllHaveCome) {
  Comm& comm = ranks();
  const auto node = comm.among(ranks_of_node(comm.group()));
  const auto memory = node->share(sizeof(std::atomic<int>));
  auto& came = *reinterpret_cast<std::atomic<int>*>(memory->part(0).data());
  for (int round = 1; round <= 100; ++round) {
    ++came;
    barrier(*node);
    EXPECT_GE(came, round * node->size());
  }
}

// Whole numbers small enough for 16 bits: every sum is exact, with every codec.
float number(int rank, std::size_t i) { return static_cast<float>((rank + 1) * static_cast<int>(i % 7)); }

TEST(Collectives, EveryAlgorithmWithEveryCodec) {
  Comm& comm = ranks();
  const int size = comm.size(), nodes = world().node_count();
  for (const Member& member : all_members()) {
    if (!member.serves(size, nodes)) continue;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1237}, std::size_t{100'003}})
      for (const codec::Codec* codec : added_codecs()) {
        const auto schedule = member.algorithm->schedule(comm.group(), count);
        if (schedule.size() > 300) continue;  // thousands of segments show nothing new
        const Range own = block(count, size, comm.rank());
        std::vector<float> data(count, -1);
        for (std::size_t i = 0; i < count; ++i)
          if (member.collective == Collective::all_reduce || member.collective == Collective::reduce_scatter ||
              (member.collective == Collective::all_gather && i >= own.begin && i < own.end()) ||
              (member.collective == Collective::broadcast && comm.rank() == 0))
            data[i] = number(comm.rank(), i);
        run(comm, schedule, {data, *codec});
        const bool sums =
            member.collective == Collective::all_reduce || member.collective == Collective::reduce_scatter;
        const Range range = member.collective == Collective::reduce_scatter ? own : Range{0, count};
        int owner = 0;
        for (std::size_t i = range.begin; i < range.end(); ++i) {
          while (member.collective == Collective::all_gather && i >= block(count, size, owner).end()) ++owner;
          const float wanted = sums ? number(0, i) * static_cast<float>(size * (size + 1) / 2) : number(owner, i);
          ASSERT_EQ(data[i], wanted) << member.spec.str() << ", " << count << " numbers, number " << i;
        }
      }
  }
}

}  // namespace
}  // namespace isobar::comm_mpi::tests
