#include "isobar/comm/local_comm.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_world.hpp"

#include "tests/comm/every_other.hpp"
#include "tests/comm/open_lengths.hpp"
#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

using tests::error_of;

Bytes local_comm_pattern(std::size_t count, int seed) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(seed) * 7);
  return bytes;
}

TEST(LocalComm, EveryPairOfRanksExchangesMessages) {
  for (int size = 1; size <= 17; ++size) {
    for (const std::size_t count : {0, 1, 1001}) {
      run_ranks(size, [&](Comm& comm) {
        ASSERT_EQ(comm.size(), size);
        for (int step = 0; step < size; ++step) {  // step 0: to itself
          const int to = (comm.rank() + step) % size, from = (comm.rank() + size - step) % size;
          const Bytes out = local_comm_pattern(count, comm.rank());
          Bytes in(count);
          Ticket receive = comm.start_receive(from, 5, in);
          Ticket send = comm.start_send(to, 5, out);
          receive.wait();
          send.wait();
          EXPECT_EQ(in, local_comm_pattern(count, from));
        }
      });
    }
  }
}

TEST(LocalComm, LargeMessagesArriveWhole) {
  run_ranks(2, [](Comm& comm) {
    const std::size_t count = (std::size_t{8} << 20) + 3;
    if (comm.rank() == 0) return comm.send(1, 0, local_comm_pattern(count, 3));
    Bytes in(count);
    comm.receive(0, 0, in);
    EXPECT_EQ(in, local_comm_pattern(count, 3));
  });
}

// Sent in one order and received in another: tags keep messages apart; within a tag they keep their order.
TEST(LocalComm, TagsDoNotMix) {
  run_ranks(2, [](Comm& comm) {
    const Bytes messages[] = {local_comm_pattern(4, 0), local_comm_pattern(4, 1), local_comm_pattern(4, 2)};
    if (comm.rank() == 0) {
      Ticket a = comm.start_send(1, 1, messages[0]), b = comm.start_send(1, 2, messages[1]),
             c = comm.start_send(1, 1, messages[2]);
      a.wait(), b.wait(), c.wait();
      return;
    }
    Bytes in(4);
    comm.receive(0, 2, in);
    EXPECT_EQ(in, messages[1]);
    comm.receive(0, 1, in);
    EXPECT_EQ(in, messages[0]);
    comm.receive(0, 1, in);
    EXPECT_EQ(in, messages[2]);
  });
}

TEST(LocalComm, EpochsAndGroupsDoNotMix) {
  const auto world = std::make_shared<LocalWorld>(3);
  run_threads(world, [&](Comm& comm) {
    if (comm.rank() == 2) return;
    const int both[] = {0, 1}, reversed[] = {1, 0};
    const auto pair = comm.among(reversed);
    EXPECT_EQ(pair->members(), (std::vector<int>{1, 0}));
    EXPECT_EQ(pair->rank(), 1 - comm.rank());
    const auto later = local_group(world, 7, both, comm.rank());
    EXPECT_EQ(later->epoch(), 7u);
    EXPECT_EQ(later->size(), 2);
    const Bytes old = local_comm_pattern(1, 1), in_pair = local_comm_pattern(1, 2), newer = local_comm_pattern(1, 3);
    Bytes in(1);
    if (comm.rank() == 0) {
      Ticket a = comm.start_send(1, 0, old), b = pair->start_send(0, 0, in_pair), c = later->start_send(1, 0, newer);
      a.wait(), b.wait(), c.wait();
    } else {
      later->receive(0, 0, in);
      EXPECT_EQ(in, newer);
      pair->receive(1, 0, in);
      EXPECT_EQ(in, in_pair);
      comm.receive(0, 0, in);
      EXPECT_EQ(in, old);
    }
  });
}

TEST(LocalComm, GroupsOfTheSameRanksAreApart) {
  run_ranks(6, [](Comm& comm) {
    const std::vector<int> half = tests::every_other(comm.group());
    const auto first = comm.among(half), second = comm.among(half);
    EXPECT_EQ(first->size(), 3);
    EXPECT_EQ(first->members()[static_cast<std::size_t>(first->rank())], comm.rank());
    const std::vector<std::int64_t> wanted(half.begin(), half.end());
    EXPECT_EQ(all_gather_number(*first, comm.rank()), wanted);
    const auto inner = duplicate(*second);
    EXPECT_EQ(all_gather_number(*inner, comm.rank()), wanted);
    const Bytes of_first = local_comm_pattern(1, 1), of_second = local_comm_pattern(1, 2);
    Bytes in(1);
    const int right = (first->rank() + 1) % 3, left = (first->rank() + 2) % 3;
    Ticket a = first->start_send(right, 0, of_first), b = second->start_send(right, 0, of_second);
    second->receive(left, 0, in);
    EXPECT_EQ(in, of_second);
    first->receive(left, 0, in);
    EXPECT_EQ(in, of_first);
    a.wait(), b.wait();
  });
}

// As a search makes them that tries one thing after the other, and many at once.
TEST(LocalComm, AThousandGroups) {
  run_ranks(4, [](Comm& comm) {
    const std::vector<int> half = tests::every_other(comm.group());
    std::vector<std::unique_ptr<Comm>> kept;
    for (int made = 0; made < 1000; ++made) {
      const auto outer = comm.among(half);
      auto inner = duplicate(*outer);
      EXPECT_EQ(all_gather_number(*inner, comm.rank() + made),
                (std::vector<std::int64_t>{half[0] + made, half[1] + made}));
      if (made % 3 == 0) kept.push_back(std::move(inner));
    }
    std::vector<Ticket> tickets;
    std::vector<std::int64_t> in(kept.size()), out(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const int other = 1 - kept[i]->rank();
      out[i] = static_cast<std::int64_t>(1000 * i) + comm.rank();
      tickets.push_back(kept[i]->start_receive(other, 0, std::as_writable_bytes(std::span(&in[i], 1))));
    }
    for (std::size_t i = kept.size(); i-- > 0;)  // the last first: what keeps them apart is the group
      kept[i]->send(1 - kept[i]->rank(), 0, std::as_bytes(std::span(&out[i], 1)));
    for (Ticket& ticket : tickets) ticket.wait();
    const int other = half[static_cast<std::size_t>(1 - kept[0]->rank())];
    for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(in[i], static_cast<std::int64_t>(1000 * i) + other);
  });
}

TEST(LocalComm, AGroupOfOtherRanksIsAMistakeOfTheProgram) {
  const auto comm = alone();
  EXPECT_THROW(comm->among({}), std::logic_error);
  const int too_many[] = {0, 1};
  EXPECT_THROW(comm->among(too_many), std::logic_error);
}

// Whichever rank fails, and whatever the others are doing, all end and say why.
TEST(LocalComm, AFailureOfAnyRankAtAnyPointEndsAll) {
  for (const int size : {1, 2, 5, 8}) {
    for (int victim = 0; victim < size; ++victim) {
      for (int point = 0; point < 4; ++point) {
        std::atomic<int> ended = 0;
        const std::string message = error_of([&] {
          run_ranks(size, [&](Comm& comm) {
            struct Count {
              std::atomic<int>& ended;
              ~Count() { ++ended; }
            } count{ended};
            for (int round = 0;; ++round) {
              if (comm.rank() == victim && round == point) fail("the disk is full");
              try {
                if (round % 2) barrier(comm);
                else all_gather(comm, local_comm_pattern(100, comm.rank()));
              } catch (const Aborted& told) {
                EXPECT_EQ(told.what(), fmt::format("[rank {}] the disk is full", victim));
                throw;
              }
            }
          });
        });
        EXPECT_EQ(message, fmt::format("[rank {}] the disk is full", victim));
        EXPECT_EQ(ended, size);
      }
    }
  }
}

TEST(LocalComm, ASendThatWasDroppedIsNeverReadFrom) {
  const std::string message = error_of([] {
    run_ranks(2, [](Comm& comm) {
      if (comm.rank() == 0) {
        const Bytes gone = local_comm_pattern(1 << 20, 1);
        Ticket ticket = comm.start_send(1, 0, gone);
        fail("before anybody received");
      }
      Bytes in(1 << 20);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      comm.receive(0, 0, in);
    });
  });
  EXPECT_EQ(message, "[rank 0] before anybody received");
}

TEST(LocalComm, WaitingForARankThatHasEndedIsAnError) {
  const std::string message = error_of([] {
    run_ranks(3, [](Comm& comm) {
      if (comm.rank() == 2) return;
      Bytes in(1);
      comm.receive(2, 0, in);
    });
  });
  EXPECT_HAS(message, "waited for rank 2, which has ended");  // from rank 0 or 1, whichever noticed first
}

TEST(LocalComm, AMessageOfAnotherLengthIsAMistakeOfTheProgram) {
  EXPECT_THROW(run_ranks(2,
                         [](Comm& comm) {
                           Bytes bytes(comm.rank() == 0 ? 3 : 4);
                           comm.rank() == 0 ? comm.send(1, 0, bytes) : comm.receive(0, 0, bytes);
                         }),
               std::logic_error);
}

TEST(LocalComm, AMessageMayBeShorterThanTheMemory) {
  for (const int size : {1, 2, 5})
    run_ranks(size, [](Comm& comm) { EXPECT_EQ(tests::trouble_with_open_lengths(comm, 1001), ""); });
}

TEST(LocalComm, AMessageLongerThanTheMemoryIsAMistakeOfTheProgram) {
  run_ranks(2, [](Comm& comm) {
    Bytes bytes(comm.rank() == 0 ? 5 : 4);
    Ticket ticket = comm.rank() == 0 ? comm.start_send(1, 0, bytes) : comm.start_receive_at_most(0, 0, bytes);
    EXPECT_EQ(tests::mistake_in([&] { ticket.wait(); }),
              "a message of 5 bytes from rank 0 met a receive of at most 4 bytes on rank 1");
  });
}

TEST(LocalComm, AReceiveOfUnknownLengthEndsBeforeTheNextBegins) {
  const auto comm = alone();
  Bytes first(4), second(4);
  const Ticket open = comm->start_receive_at_most(0, 0, first);
  EXPECT_THROW(comm->start_receive(0, 0, second), std::logic_error);
  comm->start_receive_at_most(0, 1, second);
}

TEST(LocalComm, TellsWhetherAMessageIsDone) {
  run_ranks(2, [](Comm& comm) {
    Bytes byte = local_comm_pattern(1, comm.rank());
    if (comm.rank() == 0) {
      Ticket ticket = comm.start_receive(1, 0, byte);
      EXPECT_FALSE(ticket.done());
      EXPECT_FALSE(ticket.wait_for(0.001));
      comm.send(1, 1, {});
      ticket.wait();
      EXPECT_TRUE(ticket.done());
    } else {
      comm.receive(0, 1, {});
      comm.send(0, 0, byte);
    }
  });
}

TEST(LocalComm, AFailureShowsInCheck) {
  EXPECT_EQ(error_of([] {
              run_ranks(2, [](Comm& comm) {
                if (comm.rank() == 1) fail("enough");
                for (;;) {
                  comm.check();
                  std::this_thread::yield();
                }
              });
            }),
            "[rank 1] enough");
}

TEST(LocalComm, AloneIsAWorldOfOne) {
  const auto comm = alone();
  EXPECT_EQ(comm->size(), 1);
  barrier(*comm);
  const Bytes mine = local_comm_pattern(5, 1);
  EXPECT_EQ(all_gather(*comm, mine), std::vector<Bytes>{mine});
  EXPECT_GE(comm->now(), 0.0);
}

}  // namespace
}  // namespace isobar::comm
