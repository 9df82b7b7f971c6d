// Messages of several ranks are taken as they come; those that wait already, one rank after the other.
#include "isobar/comm/inbox.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"

namespace isobar::comm {
namespace {

// Ranks above 0 send so many messages each; when all have been sent, rank 0 listens to the last rank first. Returns
// whom it hears.
std::vector<int> heard(const std::vector<int>& messages) {
  const int size = static_cast<int>(std::ssize(messages));
  std::vector<int> order;
  run_ranks(size, [&](Comm& comm) {
    std::vector<Ticket> tickets;
    for (int i = 0; comm.rank() > 0 && i < messages[static_cast<std::size_t>(comm.rank())]; ++i)
      tickets.push_back(comm.start_send(0, 3, {}));
    barrier(comm);
    if (comm.rank() == 0) {
      tickets.resize(messages.size());
      std::vector<int> left = messages;
      const auto inbox = make_inbox(comm);
      const auto listen = [&](int from) {
        if (left[static_cast<std::size_t>(from)]-- == 0) return;
        tickets[static_cast<std::size_t>(from)] = comm.start_receive(from, 3, {});
        inbox->add(from, tickets[static_cast<std::size_t>(from)]);
      };
      int all = 0;
      for (int from = size - 1; from > 0; --from) listen(from), all += messages[static_cast<std::size_t>(from)];
      for (int i = 0; i < all; ++i) {
        order.push_back(inbox->next());
        tickets[static_cast<std::size_t>(order.back())].wait();
        listen(order.back());
      }
    }
    for (Ticket& ticket : tickets) ticket.wait();
  });
  return order;
}

TEST(Inbox, FindsAllAndOnce) {
  EXPECT_EQ(heard({0, 1, 1, 1, 1}), (std::vector{1, 2, 3, 4}));
  EXPECT_EQ(heard({0, 1}), (std::vector{1}));
}

TEST(Inbox, AQuickSenderKeepsNobodyFromBeingHeard) {
  EXPECT_EQ(heard({0, 5, 1, 2}), (std::vector{1, 2, 3, 1, 3, 1, 1, 1}));
}

TEST(Inbox, AMessageThatIsFinishedCounts) {
  run_ranks(1, [](Comm& comm) {
    Ticket none;
    const auto inbox = make_inbox(comm);
    inbox->add(7, none);
    EXPECT_EQ(inbox->next(), 7);
  });
}

// Rank 1 sends after it has heard from rank 0, which waits meanwhile.
TEST(Inbox, WaitsForWhatHasNotCome) {
  run_ranks(2, [](Comm& comm) {
    if (comm.rank() == 1) {
      comm.receive(0, 4, {});
      return comm.send(0, 3, {});
    }
    Ticket answer = comm.start_receive(1, 3, {});
    const auto inbox = make_inbox(comm);
    inbox->add(1, answer);
    comm.send(1, 4, {});
    EXPECT_EQ(inbox->next(), 1);
    answer.wait();
  });
}

}  // namespace
}  // namespace isobar::comm
