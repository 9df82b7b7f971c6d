#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi::tests {
namespace {

using namespace comm;

TEST(MpiComm, EpochsAndGroupsDoNotMix) {
  Comm& comm = ranks();
  const int size = comm.size();
  const auto reversed = comm.split(4, -comm.rank());
  EXPECT_EQ(reversed->rank(), size - 1 - comm.rank());
  std::vector<int> all(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) all[static_cast<std::size_t>(rank)] = rank;
  EXPECT_EQ(reversed->members(), std::vector<int>(all.rbegin(), all.rend()));
  const auto later = comm.regroup(all, 7);
  EXPECT_EQ(later->epoch(), 7u);
  const Bytes old = pattern(1, 1), turned = pattern(1, 2), newer = pattern(1, 3);
  Ticket a = comm.start_send(0, 0, old), b = reversed->start_send(size - 1, 0, turned),
         c = later->start_send(0, 0, newer);
  if (comm.rank() == 0)
    for (int rank = 0; rank < size; ++rank) {
      Bytes in(1);
      later->receive(rank, 0, in);
      EXPECT_EQ(in, newer);
      reversed->receive(size - 1 - rank, 0, in);
      EXPECT_EQ(in, turned);
      comm.receive(rank, 0, in);
      EXPECT_EQ(in, old);
    }
  a.wait(), b.wait(), c.wait();
}

TEST(MpiComm, SplitsTwiceIntoApartGroups) {
  Comm& comm = ranks();
  const int color = comm.rank() % 2;
  const auto first = comm.split(color, 0), second = comm.split(color, 0);
  std::vector<std::int64_t> wanted;
  for (int rank = color; rank < comm.size(); rank += 2) wanted.push_back(rank);
  EXPECT_EQ(all_gather_number(*first, comm.rank()), wanted);
  EXPECT_EQ(first->members()[static_cast<std::size_t>(first->rank())], comm.rank());
  const auto inner = second->split(0, 0);
  EXPECT_EQ(all_gather_number(*inner, comm.rank()), wanted);
  const auto none = comm.split(comm.rank() == 0 ? -1 : 1, 0);
  EXPECT_EQ(none == nullptr, comm.rank() == 0);
}

// Far more groups than there are numbers, one after the other, and then too many at once.
TEST(MpiComm, NumbersOfGroupsAreUsedAgainAndRunOutWithAnError) {
  Comm& comm = ranks();
  if (comm.size() > 2) return;  // many small messages, slow with more ranks than cores
  for (int round = 0; round < 1200; ++round) EXPECT_EQ(comm.split(round % 3, 0)->size(), comm.size());
  std::vector<std::unique_ptr<Comm>> kept;
  try {
    for (;;) kept.push_back(comm.split(0, 0));
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("groups of ranks at the same time"), std::string::npos) << error.what();
  }
  EXPECT_GE(kept.size(), 15u);
  kept.clear();
  barrier(*comm.split(0, 0));
}

TEST(MpiComm, AGroupWithoutAMemberNeedsNoMessage) {
  Comm& comm = ranks();
  if (comm.rank() == comm.size() - 1 && comm.size() > 1) return;  // as if it were dead
  std::vector<int> stay;
  for (int rank = 0; rank < std::max(1, comm.size() - 1); ++rank) stay.push_back(rank);
  const auto fewer = comm.regroup(stay, 1);
  EXPECT_EQ(fewer->size(), static_cast<int>(stay.size()));
  const auto numbers = all_gather_number(*fewer, comm.rank() * 10);
  for (int rank = 0; rank < fewer->size(); ++rank) EXPECT_EQ(numbers[static_cast<std::size_t>(rank)], rank * 10);
}

TEST(MpiComm, AnEpochThatMessagesCannotTellFromALivingOneIsRefused) {
  Comm& comm = ranks();
  std::vector<int> all(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) all[static_cast<std::size_t>(rank)] = rank;
  EXPECT_THROW(comm.regroup(all, 1u << 31), Error);
  EXPECT_THROW(comm.regroup(all, 0), std::logic_error);
}

TEST(MpiComm, CountsWhatItSends) {
  Comm& comm = ranks();
  const Traffic before = comm.traffic();
  Bytes in(10);
  Ticket receive = comm.start_receive(comm.rank(), 0, in);
  comm.send(comm.rank(), 0, pattern(10, 1));
  receive.wait();
  EXPECT_EQ(comm.traffic().messages - before.messages, 1);
  EXPECT_EQ(comm.traffic().bytes - before.bytes, 10);
}

TEST(MpiComm, SumsByTheLibrary) {
  Comm& comm = ranks();
  const auto half = comm.split(comm.rank() % 2, 0);
  for (Comm* group : {&comm, half.get()}) {
    const auto sum = group->native_sum(), again = group->native_sum();
    for (const std::size_t count : {0, 1, 1001}) {
      std::vector<float> data(count);
      for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<float>(i + static_cast<std::size_t>(comm.rank()));
      sum(data);
      std::size_t members = 0;
      for (const int member : group->members()) members += static_cast<std::size_t>(member);
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_EQ(data[i], static_cast<float>(i * static_cast<std::size_t>(group->size()) + members));
    }
  }
}

}  // namespace
}  // namespace isobar::comm_mpi::tests
