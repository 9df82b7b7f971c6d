// The group of a simulation by flows, used as a group: messages carry their bytes and take their time, ranks form
// groups within groups and share memory. Strategies with messages of their own will lean on it.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "isobar/sim/flows.hpp"
#include "isobar/sim/in_child.hpp"

#include "tests/comm/every_other.hpp"
#include "tests/expect_error.hpp"
#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

// What `work` writes on all ranks, in the order of the ranks.
std::string on_ranks(int ranks, const std::function<std::string(FlowRank)>& work) {
  return in_child([&] {
    const Platform platform = tests::made_platform(ranks);
    const RankNodes placement{ranks, 1};
    const Topology topology(platform, ranks);
    SumCosts costs(topology, platform, placement);
    std::vector<std::string> texts(static_cast<std::size_t>(ranks));
    run_flows(topology, platform, placement, Noise({}, 1), costs, {},
              [&](const FlowRank& rank) { texts[static_cast<std::size_t>(rank.rank)] = work(rank); });
    return std::accumulate(texts.begin(), texts.end(), std::string());
  });
}

std::span<const std::byte> bytes_of(const std::vector<char>& text) { return std::as_bytes(std::span(text)); }

TEST(FlowComm, MessagesArriveInOrderWithTheirBytesAndTime) {
  const std::string text = on_ranks(2, [](const FlowRank& rank) -> std::string {
    std::vector<char> first(1'000'000, 'a'), second(4, 'b');
    if (rank.rank == 0) {
      comm::Ticket one = rank.comm.start_send(1, 3, bytes_of(first));
      rank.comm.send(1, 3, bytes_of(second));
      one.wait();
      return "";
    }
    std::vector<char> got(first.size()), then(4);
    comm::Ticket ticket = rank.comm.start_receive(0, 3, std::as_writable_bytes(std::span(got)));
    const bool at_once = ticket.done();
    ticket.wait();
    const double now = rank.comm.now();
    rank.comm.receive(0, 3, std::as_writable_bytes(std::span(then)));
    // Both are under way at once, and share the link for four bytes: 1 MB at 1 GB/s, and 2 us.
    return fmt::format("{} {}{} {}", at_once, got.back(), then.back(), std::abs(now - 1.002e-3) < 1e-6);
  });
  EXPECT_EQ(text, "false ab true");
}

TEST(FlowComm, GroupsWithinGroups) {
  const std::string text = on_ranks(5, [](const FlowRank& rank) {
    std::vector<int> last_first = tests::every_other(rank.comm.group());
    std::ranges::reverse(last_first);
    const auto half = rank.comm.among(last_first);
    std::vector<char> mine(1, static_cast<char>('0' + rank.rank)), got(1, '-');
    // The first of each group sends to the second, with the same tag in both.
    if (half->rank() == 0) half->send(1, 7, bytes_of(mine));
    if (half->rank() == 1) half->receive(0, 7, std::as_writable_bytes(std::span(got)));
    // The first two of each, the other way round: the one that has received hands it back.
    const int turned[] = {1, 0};
    const auto two = half->rank() < 2 ? half->among(turned) : nullptr;
    if (two && two->rank() == 0) two->send(1, 7, bytes_of(got));
    if (two && two->rank() == 1) two->receive(0, 7, std::as_writable_bytes(std::span(got)));
    return fmt::format("{}/{}{}{} ", half->rank(), half->size(), got[0], two ? two->members().front() : -1);
  });
  EXPECT_EQ(text, "2/3--1 1/231 1/342 0/231 0/342 ");
}

TEST(FlowComm, MembersShareMemory) {
  const std::string text = on_ranks(3, [](const FlowRank& rank) {
    const auto memory = rank.comm.share(100);
    memory->part(rank.rank)[0] = std::byte('a' + rank.rank);
    rank.timeline.compute(1);  // the others have written too
    std::string seen;
    for (int r = 0; r < 3; ++r) seen += static_cast<char>(memory->part(r)[0]);
    return seen + " ";
  });
  EXPECT_EQ(text, "abc abc abc ");
}

TEST(FlowComm, AnErrorOfOneRankEndsAll) {
  EXPECT_HAS(tests::error_of([] {
               on_ranks(3, [](const FlowRank& rank) -> std::string {
                 if (rank.rank == 1) fail("no more");
                 std::vector<char> never(1);
                 rank.comm.receive(1, 0, std::as_writable_bytes(std::span(never)));
                 return "";
               });
             }),
             "no more");
  EXPECT_HAS(tests::error_of([] {
               on_ranks(2, [](const FlowRank& rank) -> std::string {
                 if (rank.rank == 1) rank.comm.abort("given up");
                 rank.timeline.compute(1);
                 return "";
               });
             }),
             "[rank 1] given up");
}

}  // namespace
}  // namespace isobar::sim
