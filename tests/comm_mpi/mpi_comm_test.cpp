#include "isobar/comm_mpi/mpi_comm.hpp"

#include "tests/comm/every_other.hpp"
#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi::tests {
namespace {

using namespace comm;
using isobar::tests::every_other;

// The same group, with the functions that only a group over MPI has.
MpiComm& over_mpi() { return dynamic_cast<MpiComm&>(ranks()); }

TEST(MpiComm, EpochsAndGroupsDoNotMix) {
  MpiComm& comm = over_mpi();
  const int size = comm.size();
  const std::vector<int> all = comm.members(), backwards(all.rbegin(), all.rend());
  const auto reversed = comm.among(backwards);
  EXPECT_EQ(reversed->rank(), size - 1 - comm.rank());
  EXPECT_EQ(reversed->members(), backwards);
  const auto later = comm.in_epoch(7, all);
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

TEST(MpiComm, GroupsOfTheSameRanksAreApart) {
  Comm& comm = ranks();
  const std::vector<int> half = every_other(comm.group());
  const auto first = comm.among(half), second = comm.among(half);
  const std::vector<std::int64_t> wanted(half.begin(), half.end());
  EXPECT_EQ(all_gather_number(*first, comm.rank()), wanted);
  EXPECT_EQ(first->members()[static_cast<std::size_t>(first->rank())], comm.rank());
  const auto inner = duplicate(*second);
  EXPECT_EQ(all_gather_number(*inner, comm.rank()), wanted);
  Bytes in(1);
  const Bytes of_first = pattern(1, 1), of_second = pattern(1, 2);
  Ticket a = first->start_send(first->rank(), 0, of_first), b = second->start_send(second->rank(), 0, of_second);
  second->receive(second->rank(), 0, in);
  EXPECT_EQ(in, of_second);
  first->receive(first->rank(), 0, in);
  EXPECT_EQ(in, of_first);
  a.wait(), b.wait();
}

// Ranks outside a list do nothing: groups that overlap are made one after the other.
TEST(MpiComm, OnlyThoseInTheListMakeAGroup) {
  Comm& comm = ranks();
  for (int left = 0; left + 1 < comm.size(); ++left) {
    if (comm.rank() < left || comm.rank() > left + 1) continue;
    const int pair[] = {left + 1, left};
    const auto two = comm.among(pair);
    EXPECT_EQ(all_gather_number(*two, comm.rank()), (std::vector<std::int64_t>{left + 1, left}));
  }
}

// Far more groups than there are numbers, one after the other, and then too many at once.
TEST(MpiComm, NumbersOfGroupsAreUsedAgainAndRunOutWithAnError) {
  Comm& comm = ranks();
  if (comm.size() > 2) return;  // many small messages, slow with more ranks than cores
  for (int round = 0; round < 1200; ++round) EXPECT_EQ(duplicate(comm)->size(), comm.size());
  std::vector<std::unique_ptr<Comm>> kept;
  try {
    for (;;) kept.push_back(duplicate(comm));
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("groups of ranks at the same time"), std::string::npos) << error.what();
  }
  EXPECT_GE(kept.size(), 500u);
  for (const auto& each : {kept.front().get(), kept[kept.size() / 2].get(), kept.back().get()})
    EXPECT_EQ(all_gather_number(*each, comm.rank()).size(), static_cast<std::size_t>(comm.size()));
  kept.clear();
  barrier(*duplicate(comm));
}

// As when a run is given up in the middle of a step.
TEST(MpiComm, WhatAGroupHasNotReceivedDoesNotTurnUpInALaterOne) {
  Comm& comm = ranks();
  const int next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
  if (next == comm.rank()) return;
  for (int round = 0; round < 3; ++round) {
    {
      const auto abandoned = duplicate(comm);
      abandoned->send(next, 4, pattern(5, 100));  // short enough to be on its way before anybody receives
    }
    const auto later = duplicate(comm);
    Bytes in(5);
    const Bytes out = pattern(5, comm.rank());
    Ticket receive = later->start_receive(last, 4, in), send = later->start_send(next, 4, out);
    receive.wait();
    send.wait();
    EXPECT_EQ(in, pattern(5, last));
  }
}

TEST(MpiComm, AGroupWithoutAMemberNeedsNoMessage) {
  MpiComm& comm = over_mpi();
  if (comm.rank() == comm.size() - 1 && comm.size() > 1) return;  // as if it were dead
  std::vector<int> stay;
  for (int rank = 0; rank < std::max(1, comm.size() - 1); ++rank) stay.push_back(rank);
  const auto fewer = comm.in_epoch(1, stay);
  EXPECT_EQ(fewer->size(), static_cast<int>(stay.size()));
  const auto numbers = all_gather_number(*fewer, comm.rank() * 10);
  for (int rank = 0; rank < fewer->size(); ++rank) EXPECT_EQ(numbers[static_cast<std::size_t>(rank)], rank * 10);
}

TEST(MpiComm, AnEpochThatMessagesCannotTellFromALivingOneIsRefused) {
  MpiComm& comm = over_mpi();
  EXPECT_THROW(comm.in_epoch(1u << 31, comm.members()), Error);
  EXPECT_THROW(comm.in_epoch(0, comm.members()), std::logic_error);
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
  const auto half = comm.among(every_other(comm.group()));
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
