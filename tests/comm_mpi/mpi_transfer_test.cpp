#include <cstring>
#include <thread>

#include "tests/comm/open_lengths.hpp"
#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi::tests {
namespace {

using namespace comm;

TEST(MpiTransfer, EveryPairOfRanksExchangesMessages) {
  Comm& comm = ranks();
  const int size = comm.size();
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1001}, std::size_t{300'001}})
    for (int step = 0; step < size; ++step) {  // step 0: to itself
      const int to = (comm.rank() + step) % size, from = (comm.rank() + size - step) % size;
      const Bytes out = pattern(count, comm.rank());
      Bytes in(count);
      Ticket receive = comm.start_receive(from, 5, in), send = comm.start_send(to, 5, out);
      receive.wait();
      send.wait();
      EXPECT_EQ(in, pattern(count, from));
    }
}

TEST(MpiTransfer, LargeMessagesArriveWhole) {
  Comm& comm = ranks();
  const std::size_t count = (std::size_t{8} << 20) + 3;
  const Bytes out = pattern(count, comm.rank());
  Bytes in(count);
  const int size = comm.size(), from = (comm.rank() + size - 1) % size;
  Ticket receive = comm.start_receive(from, 0, in), send = comm.start_send((comm.rank() + 1) % size, 0, out);
  send.wait();
  receive.wait();
  EXPECT_EQ(in, pattern(count, from));
}

// MPI counts in int: longer messages travel in pieces.
TEST(MpiTransfer, MoreThanOneGibibyteArrivesWhole) {
  Comm& comm = ranks();
  if (comm.size() > 1) return;  // once is enough, it takes 2 GB
  const std::size_t count = (std::size_t{1} << 30) + 5;
  Bytes out(count), in(count);
  for (const std::size_t at : {std::size_t{0}, count - 6, count - 5, count - 1}) out[at] = std::byte(at % 251 + 1);
  Ticket receive = comm.start_receive(0, 0, in), send = comm.start_send(0, 0, out);
  receive.wait();
  send.wait();
  EXPECT_TRUE(in == out);
}

// A piece that is full is followed by another, if only an empty one.
TEST(MpiTransfer, LongMessagesOfAnyLengthArriveWhole) {
  Comm& comm = ranks();
  if (comm.size() > 1) return;
  const std::size_t piece = std::size_t{1} << 30;
  Bytes out(piece + 5), in(piece + 9);
  for (const std::size_t count : {piece, piece + 5}) {
    for (const std::size_t at : {std::size_t{0}, count - 6, count - 1}) out[at] = std::byte(at % 251 + 1);
    Ticket receive = comm.start_receive_at_most(0, 0, in), send = comm.start_send(0, 0, std::span(out).first(count));
    receive.wait();
    send.wait();
    EXPECT_EQ(receive.bytes(), count);
    EXPECT_TRUE(std::memcmp(in.data(), out.data(), count) == 0);
  }
}

TEST(MpiTransfer, AMessageMayBeShorterThanTheMemory) {
  for (const std::size_t room : {std::size_t{10}, std::size_t{300'000}})
    EXPECT_EQ(isobar::tests::trouble_with_open_lengths(ranks(), room), "");
}

// The memory has room for it all, though the receive has not: Open MPI 4.1 writes all of it.
TEST(MpiTransfer, AMessageLongerThanWhatIsAllowedIsAMistakeOfTheProgram) {
  Comm& comm = ranks();
  const int next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
  if (next == comm.rank()) return;
  Bytes out(100'000), in(100'000);
  Ticket receive = comm.start_receive_at_most(last, 9, std::span(in).first(4)), send = comm.start_send(next, 9, out);
  const std::string message = isobar::tests::mistake_in([&] { receive.wait(); });
  EXPECT_NE(message.find("met a receive of at most 4 bytes"), std::string::npos) << message;
  send.wait();
}

// Sent in one order and received in another: tags keep messages apart; within a tag they keep their order.
TEST(MpiTransfer, TagsDoNotMix) {
  Comm& comm = ranks();
  const Bytes messages[] = {pattern(4, 0), pattern(4, 1), pattern(4, 2)};
  const int last = tag_limit - 1;
  Ticket a = comm.start_send(0, 1, messages[0]), b = comm.start_send(0, last, messages[1]),
         c = comm.start_send(0, 1, messages[2]);
  if (comm.rank() == 0)
    for (int rank = 0; rank < comm.size(); ++rank) {
      Bytes in(4);
      comm.receive(rank, last, in);
      EXPECT_EQ(in, messages[1]);
      comm.receive(rank, 1, in);
      EXPECT_EQ(in, messages[0]);
      comm.receive(rank, 1, in);
      EXPECT_EQ(in, messages[2]);
    }
  a.wait(), b.wait(), c.wait();
}

// The receive memory is large: Open MPI 4.1 notices that a message is too long only after writing all of it.
TEST(MpiTransfer, AMessageOfAnotherLengthIsAMistakeOfTheProgram) {
  Comm& comm = ranks();
  const int next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
  if (next == comm.rank()) return;
  Bytes out(100'000), in(100'000);
  for (const std::size_t sent : {3, 5, 100'000}) {
    Ticket receive = comm.start_receive(last, 9, std::span(in).first(4)),
           send = comm.start_send(next, 9, std::span(out).first(sent));
    EXPECT_THROW(receive.wait(), std::logic_error) << sent;
    send.wait();
  }
}

TEST(MpiTransfer, TellsWhetherAMessageIsDone) {
  Comm& comm = ranks();
  const int next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
  Bytes in(1), out = pattern(1, comm.rank());
  Ticket ticket = comm.start_receive(last, 0, in);
  EXPECT_FALSE(ticket.done());
  EXPECT_FALSE(ticket.wait_for(0.001));
  barrier(comm);  // no rank has sent before
  comm.send(next, 0, out);
  ticket.wait();
  EXPECT_TRUE(ticket.done());
  EXPECT_EQ(in, pattern(1, last));
}

// The next receive gets the message that the withdrawn one would have got.
TEST(MpiTransfer, AWithdrawnReceiveTakesNoMessage) {
  Comm& comm = ranks();
  const int next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
  for (const std::size_t count : {std::size_t{1}, std::size_t{1} << 20}) {
    Bytes withdrawn(count), in(count);
    { Ticket dropped = comm.start_receive(last, 3, withdrawn); }
    barrier(comm);
    const Bytes out = pattern(count, comm.rank());
    Ticket receive = comm.start_receive(last, 3, in), send = comm.start_send(next, 3, out);
    receive.wait();
    send.wait();
    EXPECT_EQ(in, pattern(count, last));
    EXPECT_EQ(withdrawn, Bytes(count));
  }
}

// Dropping a send waits for its receiver; the memory may change as soon as the ticket is gone.
TEST(MpiTransfer, ADroppedSendIsNotReadFromLater) {
  Comm& comm = ranks();
  const std::size_t count = std::size_t{1} << 21;
  const int next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
  Bytes in(count), out = pattern(count, comm.rank());
  Ticket receive = comm.start_receive(last, 3, in);
  std::thread other([&] { receive.wait(); });
  { Ticket dropped = comm.start_send(next, 3, out); }
  std::memset(out.data(), 0, count);
  other.join();
  EXPECT_EQ(in, pattern(count, last));
}

TEST(MpiTransfer, ThreadsOfARankTalkAtTheSameTime) {
  Comm& comm = ranks();
  const int next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<std::thread> threads;
  for (int tag = 0; tag < 4; ++tag)
    threads.emplace_back([&, tag] {
      for (int round = 0; round < 200; ++round) {
        const Bytes out = pattern(100, comm.rank() + tag + round);
        Bytes in(100);
        Ticket receive = comm.start_receive(last, tag, in), send = comm.start_send(next, tag, out);
        receive.wait();
        send.wait();
        EXPECT_EQ(in, pattern(100, last + tag + round));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace isobar::comm_mpi::tests
