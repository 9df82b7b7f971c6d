// The group of a simulation by flows, used as a group: messages carry their bytes and take their time, ranks form
// groups within groups and share memory. Strategies with messages of their own will lean on it.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "isobar/comm/inbox.hpp"
#include "isobar/sim/flow_transfer.hpp"
#include "isobar/sim/flows.hpp"
#include "isobar/sim/in_child.hpp"

#include "tests/comm/every_other.hpp"
#include "tests/comm/open_lengths.hpp"
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

// Rank 1 sends after 5 ms, rank 2 after 1; both messages take 1 ms and 2 us.
TEST(FlowComm, WhoeverComesFirstIsHeardAtOnce) {
  const std::string text = on_ranks(3, [](const FlowRank& rank) -> std::string {
    std::vector<char> megabyte(1'000'000, static_cast<char>('0' + rank.rank));
    if (rank.rank > 0) {
      rank.timeline.compute(rank.rank == 1 ? 0.005 : 0.001);
      rank.comm.send(0, 3, bytes_of(megabyte));
      return "";
    }
    std::vector<char> one(megabyte.size()), two(megabyte.size());
    comm::Ticket from_one = rank.comm.start_receive(1, 3, std::as_writable_bytes(std::span(one)));
    comm::Ticket from_two = rank.comm.start_receive(2, 3, std::as_writable_bytes(std::span(two)));
    const auto inbox = comm::make_inbox(rank.comm);
    inbox->add(1, from_one);
    inbox->add(2, from_two);
    const int first = inbox->next();
    const double first_at = rank.comm.now();
    from_two.wait();
    const int second = inbox->next();
    from_one.wait();
    return fmt::format("{} {:.6f}, {} {:.6f} {}{}", first, first_at, second, rank.comm.now(), one.back(), two.back());
  });
  EXPECT_EQ(text, "2 0.002002, 1 0.006002 12");
}

// Rank 0 is busy while ranks 3, 2 and 1 send, in this order, and rank 1 again later.
TEST(FlowComm, WhatHasComeIsHeardInTurn) {
  const std::string text = on_ranks(4, [](const FlowRank& rank) -> std::string {
    char word = static_cast<char>('0' + rank.rank);
    const auto bytes = std::as_writable_bytes(std::span(&word, 1));
    if (rank.rank > 0) {
      rank.timeline.compute(0.004 - 0.001 * rank.rank);
      rank.comm.send(0, 3, bytes);
      if (rank.rank == 1) rank.timeline.compute(0.01), rank.comm.send(0, 3, bytes);
      return "";
    }
    char words[4] = {};
    comm::Ticket tickets[4];
    const auto inbox = comm::make_inbox(rank.comm);
    const auto listen = [&](int from) {
      tickets[from] = rank.comm.start_receive(from, 3, std::as_writable_bytes(std::span(&words[from], 1)));
      inbox->add(from, tickets[from]);
    };
    for (const int from : {3, 1, 2}) listen(from);
    rank.timeline.compute(0.005);
    std::string heard;
    for (int i = 0; i < 4; ++i) {
      const int from = inbox->next();
      tickets[from].wait();
      heard += fmt::format("{} {:.6f} ", words[from], rank.comm.now());
      if (i == 1) listen(1);
    }
    return heard;
  });
  EXPECT_EQ(text, "1 0.005000 2 0.005000 3 0.005000 1 0.013002 ");
}

// A wait ends when the message is there, or when its time is over, and not between.
TEST(FlowComm, WaitsTakeNoLongerThanTheyMust) {
  const std::string text = on_ranks(2, [](const FlowRank& rank) -> std::string {
    std::vector<char> megabyte(1'000'000);
    if (rank.rank == 0) {
      rank.timeline.compute(0.01);
      rank.comm.send(1, 3, bytes_of(megabyte));
      return "";
    }
    comm::Ticket ticket = rank.comm.start_receive(0, 3, std::as_writable_bytes(std::span(megabyte)));
    std::string seen;
    for (const double seconds : {0.004, 0.0, 0.0070015, 100.0}) {
      const bool arrived = ticket.wait_for(seconds);
      seen += fmt::format("{} {:.7f} ", arrived, rank.comm.now());
    }
    return seen;
  });
  // It has come before the third wait ends, but is seen 2 us later.
  EXPECT_EQ(text, "false 0.0040000 false 0.0040000 false 0.0110015 true 0.0110020 ");
}

TEST(FlowComm, AReceiveThatIsDroppedTakesNoMessage) {
  const std::string text = on_ranks(2, [](const FlowRank& rank) -> std::string {
    std::vector<char> letter(1, 'a');
    if (rank.rank == 0) {
      rank.timeline.compute(0.01);
      rank.comm.send(1, 3, bytes_of(letter));
      return "";
    }
    {
      std::vector<char> gone(1);
      comm::Ticket dropped = rank.comm.start_receive(0, 3, std::as_writable_bytes(std::span(gone)));
      dropped.wait_for(0.001);
    }
    letter[0] = '-';
    rank.comm.receive(0, 3, std::as_writable_bytes(std::span(letter)));
    return letter[0] + std::string();
  });
  EXPECT_EQ(text, "a");
}

TEST(FlowComm, AMessageMayBeShorterThanTheMemoryButNotLonger) {
  const std::string text = on_ranks(3, [](const FlowRank& rank) {
    std::string trouble = tests::trouble_with_open_lengths(rank.comm, 1001);
    std::vector<std::byte> five(5), four(4);
    if (rank.rank == 0) rank.comm.send(1, 0, five);
    if (rank.rank == 1) trouble += tests::mistake_in([&] { rank.comm.start_receive_at_most(0, 0, four).wait(); });
    return trouble;
  });
  EXPECT_EQ(text, "a message of 5 bytes from rank 0 met a receive of at most 4 bytes on rank 1");
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

TEST(FlowComm, AThousandGroupsWithinGroups) {
  const std::string text = on_ranks(2, [](const FlowRank& rank) {
    const int turned[] = {1, 0};
    std::vector<std::unique_ptr<comm::Comm>> groups;
    for (int made = 0; made < 1000; ++made)
      groups.push_back((made % 10 == 0 ? rank.comm : *groups.back()).among(turned));
    std::size_t right = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      std::vector<char> mine(1, static_cast<char>(i % 100)), got(1, '-');
      if (groups[i]->rank() == 0) groups[i]->send(1, 7, bytes_of(mine));
      else groups[i]->receive(0, 7, std::as_writable_bytes(std::span(got)));
      right += groups[i]->rank() == 0 || got == mine;
    }
    return fmt::format("{} ", right);
  });
  EXPECT_EQ(text, "1000 1000 ");
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
