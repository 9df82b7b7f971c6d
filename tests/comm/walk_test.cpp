#include "isobar/comm/walk.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/comm/walk_flight.hpp"

#include "tests/comm/added_codecs.hpp"
#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

using Kind = Move::Kind;
using tests::error_of;

// Small whole numbers: exact with every codec, as are sums of a few.
float walk_number(int rank, std::size_t i) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 3) % 31);
}

std::vector<float> numbers(int rank, std::size_t count) {
  std::vector<float> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = walk_number(rank, i);
  return list;
}

TEST(Walk, WhatIsSentIsTheDataBeforeTheRound) {
  const std::size_t count = 5 * Walk::piece + 3;  // more pieces than are under way at once
  EXPECT_EQ(Walk::messages(count), 6u);
  for (const codec::Codec* codec : added_codecs())
    run_ranks(2, [&](Comm& comm) {
      const int other = 1 - comm.rank();
      std::vector<float> sum = numbers(comm.rank(), count), swapped = sum;
      run(comm, {{{Kind::add, other, {0, count}}, {Kind::send, other, {0, count}}}}, {sum, *codec});
      run(comm, {{{Kind::send, other, {0, count}}, {Kind::receive, other, {0, count}}}}, {swapped, *codec});
      EXPECT_EQ(swapped, numbers(other, count));
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sum[i], walk_number(0, i) + walk_number(1, i)) << i;
    });
}

TEST(Walk, PiecesCutAtDifferentPlacesDoNotWaitForEachOther) {
  const std::size_t count = 12 * Walk::piece, shift = Walk::piece / 3;
  const Range low{0, count - shift}, high{shift, count - shift};
  for (const codec::Codec* codec : added_codecs())
    run_ranks(3, [&](Comm& comm) {
      const int right = (comm.rank() + 1) % 3, left = (comm.rank() + 2) % 3;
      const auto range = [&](int sender) { return sender == 1 ? high : low; };
      std::vector<float> data = numbers(comm.rank(), count);
      run(comm, {{{Kind::send, right, range(comm.rank())}, {Kind::add, left, range(left)}}}, {data, *codec});
      for (std::size_t i = 0; i < count; ++i) {
        const bool added = i >= range(left).begin && i < range(left).end();
        ASSERT_EQ(data[i], walk_number(comm.rank(), i) + (added ? walk_number(left, i) : 0)) << i;
      }
    });
}

// Rank 1 cannot add the first message before rank 2 has received rank 1's numbers, which happens late; the second
// message must not overtake the first.
TEST(Walk, SeveralMovesWithOnePeerMeetInTheirOrder) {
  const std::size_t half = 6 * Walk::piece;
  const Range low{0, half}, high{half, half};
  const Schedule schedules[] = {{{{Kind::send, 1, low}, {Kind::send, 1, high}}},
                                {{{Kind::add, 0, low}, {Kind::receive, 0, high}, {Kind::send, 2, low}}},
                                {{{Kind::receive, 1, low}}}};
  for (const codec::Codec* codec : added_codecs())
    run_ranks(3, [&](Comm& comm) {
      std::vector<float> data = numbers(comm.rank(), 2 * half);
      Walk walk(comm, schedules[comm.rank()], {data, *codec}, 1);
      for (int look = 0; comm.rank() == 0 && look < 100; ++look) {
        walk.advance();
        walk.wait(0.0005);
      }
      if (comm.rank() == 0) comm.send(2, 0, {});
      if (comm.rank() == 2) comm.receive(0, 0, {});
      while (!walk.advance()) walk.wait(0.1);
      for (std::size_t i = 0; i < 2 * half; ++i) {
        const bool is_low = i < half;
        const float wanted = comm.rank() == 0   ? walk_number(0, i)
                             : comm.rank() == 1 ? walk_number(0, i) + (is_low ? walk_number(1, i) : 0)
                                                : walk_number(is_low ? 1 : 2, i);
        ASSERT_EQ(data[i], wanted) << "rank " << comm.rank() << ", number " << i;
      }
    });
}

TEST(Walk, SeveralAtOnceInOneThread) {
  const std::size_t count = 3 * Walk::piece;
  run_ranks(2, [&](Comm& comm) {
    const int other = 1 - comm.rank();
    const Schedule both{{{Kind::add, other, {0, count}}, {Kind::send, other, {0, count}}}};
    std::vector<float> a = numbers(comm.rank(), count), b = numbers(comm.rank() + 2, count);
    Walk first(comm, both, {a, *codec::plain()}, 1), second(comm, both, {b, codec_named("bf16")}, 2);
    for (bool done = false; !done;) {  // the ranks serve them in different orders
      const bool left = (comm.rank() ? first : second).advance(), right = (comm.rank() ? second : first).advance();
      done = left && right;
      if (!done) first.wait(0.001), second.wait(0.001);
    }
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(a[i], walk_number(0, i) + walk_number(1, i));
      ASSERT_EQ(b[i], walk_number(2, i) + walk_number(3, i));
    }
  });
}

TEST(Walk, TakesNoMoreMemoryForLongerData) {
  for (const codec::Codec* codec : added_codecs())
    for (const std::size_t pieces : {std::size_t{8}, std::size_t{40}})
      run_ranks(2, [&](Comm& comm) {
        const Range all{0, pieces * Walk::piece};
        const Schedule both{{{Kind::add, 1 - comm.rank(), all}, {Kind::send, 1 - comm.rank(), all}}};
        std::vector<float> data(all.count, 1.0f);
        Walk walk(comm, both, {data, *codec}, 1);
        EXPECT_EQ(walk.staging_bytes(), 0u);
        while (!walk.advance()) walk.wait(0.1);
        EXPECT_GT(walk.staging_bytes(), 0u);
        EXPECT_LE(walk.staging_bytes(), 4 * Walk::piece * sizeof(float));  // half the bytes, but in both directions
        EXPECT_EQ(data, std::vector<float>(all.count, 2.0f));
      });
}

TEST(WalkFlight, EndsWithItsWalk) {
  const auto comm = alone();
  std::vector<float> data{1, 1 + 0x1p-9f};
  const Schedule schedule{{{Kind::send, 0, {1, 1}}}};
  WalkFlight flight(Walk(*comm, schedule, {data, codec_named("bf16")}, 1));
  EXPECT_TRUE(flight.advance());
  EXPECT_EQ(data[1], 1);
}

TEST(Walk, ASendToOneselfOnlyRounds) {
  const auto comm = alone();
  const float fine = 1.0f + 0x1p-20f;
  std::vector<float> data{fine, fine, fine};
  run(*comm, {{{Kind::send, 0, {1, 1}}}}, {data});
  EXPECT_EQ(data, (std::vector<float>{fine, fine, fine}));
  run(*comm, {{{Kind::send, 0, {1, 1}}}}, {data, codec_named("bf16")});
  EXPECT_EQ(data, (std::vector<float>{fine, 1, fine}));
  EXPECT_EQ(comm->traffic().messages, 0);
}

TEST(Walk, HalfTheBytesOn16Bits) {
  for (const codec::Codec* codec : added_codecs())
    run_ranks(2, [&](Comm& comm) {
      std::vector<float> data(100);
      run(comm, {{{comm.rank() ? Kind::receive : Kind::send, 1 - comm.rank(), {0, 100}}}}, {data, *codec});
      EXPECT_EQ(comm.traffic().bytes, comm.rank() ? 0 : codec->is_plain() ? 400 : 200);
    });
}

TEST(Walk, AMoveBesideTheDataIsAMistake) {
  const auto comm = alone();
  std::vector<float> data(10);
  EXPECT_THROW(run(*comm, {{{Kind::send, 0, {5, 6}}}}, {data}), std::logic_error);
  EXPECT_THROW(run(*comm, {{{Kind::send, 0, {5, static_cast<std::size_t>(-2)}}}}, {data}), std::logic_error);
}

TEST(Walk, AFailureElsewhereEndsIt) {
  for (const codec::Codec* codec : added_codecs())
    EXPECT_EQ(
        error_of([&] {
          run_ranks(3, [&](Comm& comm) {
            if (comm.rank() == 2) fail("enough");
            std::vector<float> data(2 * Walk::piece);
            const int left = (comm.rank() + 2) % 3, right = (comm.rank() + 1) % 3;
            run(comm, {{{Kind::send, right, {0, data.size()}}, {Kind::add, left, {0, data.size()}}}}, {data, *codec});
          });
        }),
        "[rank 2] enough");
}

TEST(Schedule, BlocksAreInOrderAndDifferByAtMostOne) {
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{16}, std::size_t{1237}, std::size_t{5'000'000'003}})
    for (int parts = 1; parts <= 17; ++parts) {
      std::size_t end = 0;
      for (int index = 0; index < parts; ++index) {
        const Range range = block(count, parts, index);
        EXPECT_EQ(range.begin, end);
        EXPECT_LE(range.count, block(count, parts, 0).count);
        EXPECT_LE(block(count, parts, 0).count, range.count + 1);
        end = range.end();
      }
      EXPECT_EQ(end, count);
    }
}

TEST(Schedule, TheGroupOfAComm) {
  run_ranks(
      5,
      [](Comm& comm) {
        const Group group = comm.group();
        EXPECT_EQ(group.rank, comm.rank());
        EXPECT_EQ(group.size, 5);
        EXPECT_EQ(group.nodes, (std::vector<int>{0, 0, 1, 1, 2}));
      },
      2);
}

}  // namespace
}  // namespace isobar::comm
