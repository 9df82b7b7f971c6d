// Everything ranks do together, with a rank that dies at its first message, its second, and so on: every survivor must
// notice, and the next sum of the ranks that are left must be right.
#include <atomic>
#include <set>

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_crew.hpp"
#include "isobar/comm/reducer.hpp"

#include "tests/comm/every_other.hpp"
#include "tests/comm/members.hpp"
#include "tests/comm/summing.hpp"

namespace isobar::comm {
namespace {

// What ranks do together; it checks its own results. All its messages belong to groups derived from this one.
using Work = std::function<void(Comm& group)>;

// The victim dies at its n-th message, for every message of its work; the others repeat the work until they notice.
void expect_survived(int ranks, int victim, int per_node, const Work& work) {
  SCOPED_TRACE(fmt::format("{} ranks, {} per node, rank {} dies", ranks, per_node, victim));
  bool again = true;
  for (std::int64_t message = 0; again; ++message) {
    SCOPED_TRACE(fmt::format("at message {}", message));
    std::atomic<int> told = 0, done = 0;
    const CrewEnd end = run_crew(
        ranks, 0,
        [&](Crew& crew, int rank) {
          const auto all = [](int available) { return available; };
          auto group = crew.muster(all);
          try {
            for (;;) {
              work(*group);
              if (rank == victim) again = false;
            }
          } catch (const MembersChanged&) {
            ++told;
          }
          group = crew.muster(all);
          EXPECT_EQ(group->size(), ranks - 1);
          work(*group);
          ++done;
        },
        {{.rank = victim, .message = message}}, per_node);
    ASSERT_EQ(end.died, std::vector<int>{victim});
    ASSERT_EQ(told, ranks - 1);
    ASSERT_EQ(done, ranks - 1);
  }
}

void expect_survived(const Work& work, const std::vector<int>& per_node = {1}) {
  for (int ranks = 2; ranks <= 5; ++ranks)
    for (const int each : per_node)
      for (const int victim : std::set<int>{0, ranks - 1}) {
        expect_survived(ranks, victim, each, work);
        if (testing::Test::HasFatalFailure()) return;
      }
}

// What a member contributes at place i, and the sum over a group: small whole numbers, so that sums are exact.
float given(int member, std::size_t i) { return static_cast<float>((member + 1) * (1 + static_cast<int>(i % 7))); }

void give(const Comm& group, std::span<float> data) {
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = given(group.members()[static_cast<std::size_t>(group.rank())], i);
}

bool is_sum(const Comm& group, std::span<const float> data) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    float sum = 0;
    for (const int member : group.members()) sum += given(member, i);
    if (data[i] != sum) return false;
  }
  return true;
}

TEST(Deaths, Collectives) {
  expect_survived([](Comm& group) {
    const int size = group.size();
    Bytes bytes(group.rank() == size - 1 ? 1001 : 0, std::byte{7});
    broadcast(group, bytes, size - 1);
    EXPECT_EQ(bytes, Bytes(1001, std::byte{7}));
    const auto blocks = all_gather(group, Bytes(static_cast<std::size_t>(group.rank()), std::byte{1}));
    for (std::size_t rank = 0; rank < blocks.size(); ++rank) EXPECT_EQ(blocks[rank], Bytes(rank, std::byte{1}));
    EXPECT_EQ(all_largest(group, group.rank()), size - 1);
    barrier(group);
  });
}

TEST(Deaths, GroupsWithinGroups) {
  expect_survived([](Comm& group) {
    barrier(group);  // every other of two ranks is one rank, which sends no messages
    const auto half = group.among(tests::every_other(group.group()));
    EXPECT_EQ(half->epoch(), group.epoch());
    const auto numbers = all_gather_number(*half, group.rank());
    for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], group.rank() % 2 + 2 * static_cast<int>(i));
  });
}

TEST(Deaths, SharedMemory) {
  expect_survived(
      [](Comm& group) {
        const auto memory = group.share(8);
        for (int rank = 0; rank < group.size(); ++rank) EXPECT_NE(memory->part(rank)[7], std::byte{9});
        barrier(group);
        memory->part(group.rank())[7] = std::byte{1};
        barrier(group);
        for (int rank = 0; rank < group.size(); ++rank) EXPECT_EQ(memory->part(rank)[7], std::byte{1});
        memory->part(group.rank())[0] = std::byte{9};  // must not show up in memory made later
      },
      {5});
}

TEST(Deaths, Schedules) {
  for (const Member& member : all_members()) {
    if (member.collective != Collective::all_reduce || member.uses_nodes()) continue;
    SCOPED_TRACE(member.spec.str());
    // The memory of an abandoned walk belongs to the caller again: what it then writes stays.
    expect_survived([&](Comm& group) {
      if (!member.serves(group.size(), group.size())) return barrier(group);
      std::vector<float> data(37);
      give(group, data);
      try {
        run(group, member.algorithm->schedule(group.group(), data.size()), {data});
      } catch (const MembersChanged&) {
        std::ranges::fill(data, -1.0f);
        EXPECT_THROW(barrier(group), MembersChanged);
        EXPECT_EQ(std::ranges::count(data, -1.0f), 37);
        throw;
      }
      EXPECT_TRUE(is_sum(group, data));
    });
  }
}

// Sums of several lengths under way at the same time, some of which are never waited for.
Work sums_by(const Spec& algorithm) {
  return [=](Comm& group) {
    const std::size_t large = 3000, small = 10;
    const auto reducer = tests::summing(group, large + small, {.algorithm = algorithm});
    const auto first = reducer->memory().first(large), second = reducer->memory().last(small);
    give(group, first);
    give(group, second);
    const Reducer::Sum sum = reducer->start({{0, large}, 0, "large"});
    const Reducer::Sum other = reducer->start({{large, small}, 1, "small"});
    reducer->wait(other);
    EXPECT_TRUE(is_sum(group, second));
    reducer->wait(sum);
    EXPECT_TRUE(is_sum(group, first));
    if (group.epoch() > first_epoch) return;
    reducer->start({{0, 1}, 0, "dropped"});
    barrier(group);  // all drop it, after all have started it
  };
}

TEST(Deaths, SharedSums) { expect_survived(sums_by("shared"), {5}); }
TEST(Deaths, RingSums) { expect_survived(sums_by("ring")); }
TEST(Deaths, SumsInTwoLevels) { expect_survived(sums_by("hierarchical"), {2}); }
TEST(Deaths, SumsOfTheBestKind) { expect_survived(sums_by("auto")); }

TEST(Deaths, TheLibrarysOwnSumIsRefusedWhereRanksMayDie) {
  for (const int ranks : {1, 2})
    run_crew(ranks, 0, [](Crew& crew, int) {
      const auto group = crew.muster([](int available) { return available; });
      EXPECT_THROW(tests::summing(*group, 10, {.algorithm = "native"}), UsageError);
    });
}

}  // namespace
}  // namespace isobar::comm
