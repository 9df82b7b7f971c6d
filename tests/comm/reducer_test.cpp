// Reducers: every kind gives the sums, on 1 to 9 ranks on one node or several, with many sums under way; what fails or
// stalls on one rank ends all.
#include "isobar/comm/reducer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

using tests::error_of;

const std::vector<std::size_t> counts = {0, 1, 5, 16, 512, 513, 700, 0, 3, 4099, 40000, 17, 1, 60000, 255};

float number(int rank, int step, std::size_t i) {
  return static_cast<float>((rank + 1) * static_cast<int>((i * 7 + static_cast<std::size_t>(step)) % 101));
}

// Several steps; in each, ranges of all lengths are started one after the other, and waited for in an order that
// differs from rank to rank. Whole numbers: their sums are exact.
void sums_are_right(Comm& comm, const ReducerOptions& options) {
  std::size_t floats = 3;  // nobody sums the last
  for (const std::size_t count : counts) floats += count;
  const auto reducer = make_reducer(comm, floats, options);
  const std::span<float> memory = reducer->memory();
  ASSERT_EQ(memory.size(), floats);
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0u);
  ASSERT_TRUE(std::ranges::all_of(memory, [](float x) { return x == 0; }));
  const float ranks = static_cast<float>(comm.size() * (comm.size() + 1) / 2);  // 1 + 2 + ... + size
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < floats; ++i) memory[i] = number(comm.rank(), step, i);
    std::vector<Reducer::Sum> started;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < counts.size(); begin += counts[k++])
      started.push_back(reducer->start({begin, counts[k]}, static_cast<int>(k * 5 % 7), fmt::format("sum {}", k)));
    for (std::size_t k = 0; k < counts.size(); ++k)
      reducer->wait(started[(k * 4 + static_cast<std::size_t>(comm.rank() + step)) % counts.size()]);
    for (std::size_t i = 0; i < begin; ++i) ASSERT_EQ(memory[i], number(0, step, i) * ranks) << "at " << i;
    for (std::size_t i = begin; i < floats; ++i) ASSERT_EQ(memory[i], number(comm.rank(), step, i));
    for (const Reducer::Sum sum : started) reducer->wait(sum);  // again: nothing happens
  }
  EXPECT_EQ(reducer->cost().sums, 3 * static_cast<std::int64_t>(counts.size()));
  EXPECT_GE(reducer->cost().busy_seconds, 0);
  EXPECT_EQ(reducer->cost().traffic.bytes > 0, comm.size() > 1);
  EXPECT_FALSE(reducer->describe().empty());
}

TEST(Reducer, OneRankHasNothingToDo) {
  const auto comm = alone();
  for (const char* algorithm : {"auto", "shared", "ring"}) sums_are_right(*comm, {.algorithm = algorithm});
}

TEST(Reducer, RanksOfOneNodeAddThroughSharedMemory) {
  for (int size = 2; size <= 9; ++size)
    run_ranks(
        size,
        [](Comm& comm) {
          sums_are_right(comm, {});
          EXPECT_EQ(make_reducer(comm, 1)->describe(), fmt::format("shared memory of {} ranks", comm.size()));
        },
        size);
}

// One after the other, each alone: the places in which small sums are laid aside come round many times.
TEST(Reducer, SmallSumsFollowEachOther) {
  run_ranks(
      3,
      [](Comm& comm) {
        const auto reducer = make_reducer(comm, 40);
        const std::span<float> memory = reducer->memory();
        for (int i = 0; i < 500; ++i) {
          const Range range{static_cast<std::size_t>(i % 7), static_cast<std::size_t>(i % 33)};
          for (std::size_t k = 0; k < 40; ++k) memory[k] = number(comm.rank(), i, k);
          reducer->wait(reducer->start(range, 0, "one"));
          for (std::size_t k = 0; k < 40; ++k) {
            const bool summed = k >= range.begin && k < range.end();
            ASSERT_EQ(memory[k], summed ? 6 * number(0, i, k) : number(comm.rank(), i, k))
                << "sum " << i << " at " << k;
          }
        }
      },
      3);
}

// Sums of one step are waited for in the next, as lagged updates do.
TEST(Reducer, SumsOverlapSteps) {
  run_ranks(
      4,
      [](Comm& comm) {
        const auto reducer = make_reducer(comm, 2000);
        const std::span<float> memory = reducer->memory();
        Reducer::Sum before = -1;
        for (int step = 0; step < 50; ++step) {
          const std::size_t begin = step % 2 ? 1000 : 0, count = step % 3 ? 1000 : 20;
          for (std::size_t i = 0; i < count; ++i) memory[begin + i] = number(comm.rank(), step, i);
          const Reducer::Sum now = reducer->start({begin, count}, 0, "lagged");
          if (step > 0) {
            reducer->wait(before);
            for (std::size_t i = 0; i < 20; ++i) ASSERT_EQ(memory[1000 - begin + i], 10 * number(0, step - 1, i));
          }
          before = now;
        }
        reducer->wait(before);
      },
      4);
}

TEST(Reducer, NumbersOfRanksMustAgree) {
  const std::string message = error_of([] {
    run_ranks(
        2, [](Comm& comm) { make_reducer(comm, comm.rank() == 0 ? 10 : 11); }, 2);
  });
  EXPECT_HAS(message, "rank 0 has 10 numbers, rank 1 has 11");
}

void wait_for_failure(Comm& comm) {
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) comm.check();
}

TEST(Reducer, AFailureEndsAllWaits) {
  for (const char* algorithm : {"auto"})
    for (const int per_node : {4})
      EXPECT_HAS(error_of([&] {
                   run_ranks(
                       4,
                       [&](Comm& comm) {
                         const auto reducer = make_reducer(comm, 3000, {.algorithm = algorithm});
                         reducer->wait(reducer->start({0, 3000}, 0, "good"));
                         const Reducer::Sum a = reducer->start({0, 2000}, 0, "a");
                         if (comm.rank() == 2) fail("the disk is full");
                         const Reducer::Sum b = reducer->start({2000, 1000}, 1, "b");
                         reducer->wait(b);
                         reducer->wait(a);
                       },
                       per_node);
                 }),
                 "[rank 2] the disk is full");
}

TEST(Reducer, AMissingRankIsReportedAndEndsTheJob) {
  for (const int per_node : {3}) {
    testing::internal::CaptureStderr();
    const std::string message = error_of([&] {
      run_ranks(
          3,
          [&](Comm& comm) {
            const auto reducer = make_reducer(comm, 1000, {.warn_seconds = 0.05, .stall_seconds = 0.2});
            reducer->wait(reducer->start({0, 1000}, 0, "good"));
            if (comm.rank() == 1) {
              comm.note("reading batch 13");
              wait_for_failure(comm);
            }
            reducer->wait(reducer->start({0, 1000}, 0, "step 12: gradients 3 of 7"));
          },
          per_node);
    });
    const std::string told = testing::internal::GetCapturedStderr();
    for (const std::string& text : {message, told}) {
      EXPECT_HAS(text, "sum 'step 12: gradients 3 of 7' waits 0.");
      EXPECT_HAS(text, "rank 1 (it says: 'reading batch 13')");
    }
    EXPECT_HAS(told, "isobar: sum");
    EXPECT_HAS(told, "; the job ends after 0.2 s\n");
  }
}

}  // namespace
}  // namespace isobar::comm
