// Reducers: every kind gives the right sums, on 1 to 9 ranks on one node or several, with many sums under way; a
// failure or stall of one rank ends all.
#include "isobar/comm/reducer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"

#include "tests/comm/forwarding_comm.hpp"
#include "tests/comm/summing.hpp"
#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

using tests::error_of;

const std::vector<std::size_t> reducer_counts = {0, 1, 5, 16, 512, 513, 700, 0, 3, 4099, 40000, 17, 1, 60000, 255};

float number(int rank, int step, std::size_t i) {
  return static_cast<float>((rank + 1) * static_cast<int>((i * 7 + static_cast<std::size_t>(step)) % 101));
}

// Several steps; in each, ranges of all lengths are started one after the other, and waited for in an order that
// differs from rank to rank. Whole numbers: their sums are exact.
void sums_are_right(Comm& comm, const ReducerOptions& options) {
  std::size_t floats = 3;  // the last ones are in no sum
  for (const std::size_t count : reducer_counts) floats += count;
  const auto reducer = tests::summing(comm, floats, options);
  const std::span<float> memory = reducer->memory();
  ASSERT_EQ(memory.size(), floats);
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0u);
  ASSERT_TRUE(std::ranges::all_of(memory, [](float x) { return x == 0; }));
  const float ranks = static_cast<float>(comm.size() * (comm.size() + 1) / 2);  // 1 + 2 + ... + size
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < floats; ++i) memory[i] = number(comm.rank(), step, i);
    std::vector<Reducer::Sum> started;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < reducer_counts.size(); begin += reducer_counts[k++])
      started.push_back(
          reducer->start({{begin, reducer_counts[k]}, static_cast<int>(k * 5 % 7), fmt::format("sum {}", k)}));
    for (std::size_t k = 0; k < reducer_counts.size(); ++k)
      reducer->wait(started[(k * 4 + static_cast<std::size_t>(comm.rank() + step)) % reducer_counts.size()]);
    for (std::size_t i = 0; i < begin; ++i) ASSERT_EQ(memory[i], number(0, step, i) * ranks) << "at " << i;
    for (std::size_t i = begin; i < floats; ++i) ASSERT_EQ(memory[i], number(comm.rank(), step, i));
    for (const Reducer::Sum sum : started) reducer->wait(sum);  // again: nothing happens
  }
  EXPECT_EQ(reducer->cost().sums, 3 * static_cast<std::int64_t>(reducer_counts.size()));
  EXPECT_GE(reducer->cost().busy_seconds, 0);
  // A rank without a lane sends nothing itself, so only the largest number counts.
  EXPECT_EQ(std::ranges::max(all_gather_number(comm, reducer->cost().traffic.bytes)) > 0, comm.size() > 1);
  EXPECT_FALSE(reducer->describe().empty());
}

// One node, one rank per node, full nodes, and a last node with fewer ranks than the others.
std::vector<int> arrangements(int size) {
  std::vector<int> list{1, 2, 3, size};
  std::erase_if(list, [&](int per_node) { return per_node > size; });
  return list;
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
          EXPECT_EQ(tests::summing(comm, 1)->describe(), fmt::format("shared memory of {} ranks", comm.size()));
        },
        size);
}

TEST(Reducer, AllKindsGiveTheSums) {
  for (const char* algorithm : {"auto", "hierarchical", "hierarchical(outer=halving_doubling)"})
    for (const int size : {2, 3, 4, 5, 8, 9})
      for (const int per_node : arrangements(size)) {
        SCOPED_TRACE(fmt::format("{}, {} ranks, {} per node", algorithm, size, per_node));
        run_ranks(
            size, [&](Comm& comm) { sums_are_right(comm, {.algorithm = algorithm}); }, per_node);
      }
}

TEST(Reducer, AllAlgorithmsGiveTheSums) {
  for (const Row<Algorithm>* row : all_reduces())
    for (const int size : {2, 4, 5}) {
      if (row->name == "reproducible" && size == 5) continue;
      SCOPED_TRACE(fmt::format("{}, {} ranks", row->name, size));
      run_ranks(
          size, [&](Comm& comm) { sums_are_right(comm, {.algorithm = std::string(row->name)}); }, 2);
    }
}

// The message library of these ranks has its own sum, here a ring.
class NativeComm final : public tests::ForwardingComm {
 public:
  using ForwardingComm::ForwardingComm;
  std::function<void(std::span<float>)> native_sum() override {
    return [this](std::span<float> data) {
      const auto ring = make(all_reduces(), "ring", "algorithm");
      run(*this, ring->schedule(group(), data.size()), data);
    };
  }
};

TEST(Reducer, TheMessageLibrarysOwnSumIsUsedWhereAskedFor) {
  for (const int per_node : {1, 3})
    run_ranks(
        3,
        [](Comm& comm) {
          NativeComm native(comm);
          sums_are_right(native, {.algorithm = "native"});
        },
        per_node);
}

// On one node, on two and on four: the same bits, those of a balanced tree over the ranks.
TEST(Reducer, ReproducibleDoesNotDependOnNodes) {
  for (const int size : {2, 4, 8})
    for (const int per_node : {1, 2, size})
      run_ranks(
          size,
          [&](Comm& comm) {
            const auto value = [](int rank, std::size_t i) { return 1.0f / static_cast<float>(7 * rank + i % 13 + 1); };
            const auto reducer = tests::summing(comm, 5000, {.algorithm = "reproducible"});
            for (std::size_t i = 0; i < 5000; ++i) reducer->memory()[i] = value(comm.rank(), i);
            reducer->wait(reducer->start({{0, 5000}, 0, "all"}));
            for (std::size_t i = 0; i < 5000; ++i) {
              std::vector<float> tree;
              for (int rank = 0; rank < size; ++rank) tree.push_back(value(rank, i));
              for (; tree.size() > 1; tree.resize(tree.size() / 2))
                for (std::size_t k = 0; k < tree.size() / 2; ++k) tree[k] = tree[2 * k] + tree[2 * k + 1];
              ASSERT_EQ(reducer->memory()[i], tree[0]);
            }
          },
          per_node);
}

TEST(Reducer, SixteenBitsOnTheWireGiveAllRanksTheSame) {
  for (const char* algorithm : {"ring", "hierarchical"})
    run_ranks(
        4,
        [&](Comm& comm) {
          const auto reducer =
              tests::summing(comm, 3000, {.algorithm = algorithm, .codec = make(codec::codecs(), "bf16", "codec")});
          const std::span<float> memory = reducer->memory();
          for (std::size_t i = 0; i < 3000; ++i)
            memory[i] = 1.0f / static_cast<float>(comm.rank() + 1) + static_cast<float>(i);
          reducer->wait(reducer->start({{0, 3000}, 0, "all"}));
          for (std::size_t i = 0; i < 3000; ++i)
            ASSERT_NEAR(memory[i], 25.0f / 12 + 4 * static_cast<float>(i), 0.02f * (2 + 4 * static_cast<float>(i)));
          const std::vector<Bytes> all = all_gather(comm, std::as_bytes(memory));
          for (const Bytes& bytes : all) ASSERT_EQ(bytes, all[0]);
        },
        2);
}

TEST(Reducer, ACodecIsHonouredOrRefused) {
  const auto sum = [](const char* algorithm, int per_node) {
    float result = 0;
    run_ranks(
        2,
        [&](Comm& comm) {
          const auto reducer =
              tests::summing(comm, 20, {.algorithm = algorithm, .codec = make(codec::codecs(), "bf16", "codec")});
          std::ranges::fill(reducer->memory(), 1 + 0x1p-9f);
          const Reducer::Sum rounded = reducer->start({.range = {0, 10}, .what = "rounded"});
          const Reducer::Sum exact = reducer->start({.range = {10, 10}, .what = "exact", .exact = true});
          reducer->wait(rounded);
          reducer->wait(exact);
          EXPECT_EQ(reducer->memory()[15], 2 + 0x1p-8f);
          if (comm.rank() == 0) result = reducer->memory()[5];
        },
        per_node);
    return result;
  };
  for (const char* algorithm : {"auto", "ring", "reproducible"})
    for (const int per_node : {1, 2}) EXPECT_EQ(sum(algorithm, per_node), 2) << algorithm << ", " << per_node;
  EXPECT_EQ(sum("hierarchical", 1), 2);
  for (const char* algorithm : {"shared", "native", "hierarchical"})
    EXPECT_HAS(error_of([&] { sum(algorithm, 2); }), fmt::format("algorithm '{}' adds numbers as they are and cannot "
                                                                 "carry codec 'bf16'; 'auto' chooses one that can",
                                                                 algorithm));
}

// What every rank has sent is added in the order of ranks, tensor by tensor; exact sums go on meanwhile.
TEST(Reducer, GathersWhatCannotBeAddedOnTheWay) {
  for (const int ranks : {1, 2, 5})
    for (const int per_node : {1, 5})
      run_ranks(
          ranks,
          [&](Comm& comm) {
            const auto reducer =
                tests::summing(comm, 300, {.codec = make(codec::codecs(), "topk(share=0.1, least=1)", "codec")});
            const std::span<float> memory = reducer->memory();
            for (int step = 0; step < 3; ++step) {
              std::ranges::fill(memory, 1.0f);
              const auto mine = static_cast<std::size_t>(comm.rank());
              for (std::size_t i = 0; i < 10; ++i) memory[mine] = memory[100 + 10 * mine + i] = 2;
              const Range parts[] = {{0, 100}, {100, 100}};
              const Reducer::Sum all = reducer->start({.range = {0, 200}, .what = "some", .parts = parts});
              const Reducer::Sum exact = reducer->start({.range = {200, 100}, .what = "exact", .exact = true});
              for (std::size_t i = 0; i < 10; ++i) ASSERT_EQ(memory[100 + 10 * mine + i], 2) << "what was sent";
              reducer->wait(exact);
              reducer->wait(all);
              reducer->wait(all);
              // Of the first tensor a rank sends its own place and the first nine others.
              const auto size = static_cast<std::size_t>(comm.size());
              for (std::size_t r = 0; r < size; ++r) ASSERT_EQ(memory[r], static_cast<float>(size + 1));
              for (std::size_t i = size; i < 9; ++i) ASSERT_EQ(memory[i], static_cast<float>(size));
              for (std::size_t i = 10; i < 100; ++i) ASSERT_EQ(memory[i], 0);
              for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(memory[100 + i], i < 10 * size ? 2 : 0) << i;
              for (std::size_t i = 200; i < 300; ++i) ASSERT_EQ(memory[i], static_cast<float>(size));
            }
            EXPECT_EQ(reducer->cost().sums, 6);
            EXPECT_HAS(reducer->describe(), "topk(share=0.1) gathered from");
          },
          per_node);
}

// What is said beforehand is what is sent.
TEST(Reducer, TrafficIsKnownBeforehand) {
  const Range parts[] = {{0, 3000}, {3000, 1000}, {4000, 5000}};
  for (const char* algorithm : {"auto", "ring", "halving_doubling", "tree", "shared"})
    for (const char* codec : {"float", "bf16", "topk(share=0.05)"})
      for (const int per_node : {1, 4}) {
        const std::string name = algorithm;
        const bool one_node = per_node == 4, plain = codec == std::string("float");
        if (name == "shared" && (!one_node || !plain)) continue;
        if (name != "auto" && codec[0] == 't') continue;
        run_ranks(
            4,
            [&](Comm& comm) {
              const ReducerOptions options{.algorithm = algorithm, .codec = make(codec::codecs(), codec, "codec")};
              const auto reducer = tests::summing(comm, 9000, options);
              std::ranges::fill(reducer->memory(), 1.0f);  // zeros might not travel
              const Traffic before = reducer->cost().traffic;
              const SumRequest sum{.range = {0, 9000}, .what = "all", .parts = parts};
              reducer->wait(reducer->start(sum));
              const Traffic after = reducer->cost().traffic, told = traffic_of(comm.group(), sum, options);
              EXPECT_EQ(after.messages - before.messages, told.messages) << algorithm << codec << per_node;
              EXPECT_EQ(after.bytes - before.bytes, told.bytes) << algorithm << codec << per_node;
            },
            per_node);
      }
}

// A codec may send less than it could.
TEST(Reducer, NumbersThatAreZeroAreNotGathered) {
  run_ranks(3, [](Comm& comm) {
    const ReducerOptions options{.codec = make(codec::codecs(), "topk(share=0.05)", "codec")};
    const auto reducer = tests::summing(comm, 9000, options);
    const std::span<float> memory = reducer->memory();
    const Range parts[] = {{0, 3000}, {3000, 6000}};
    const auto mine = static_cast<std::size_t>(comm.rank());
    memory[10 * mine] = memory[3100 + mine] = memory[3200] = 5;
    reducer->wait(reducer->start({.range = {0, 9000}, .what = "few", .parts = parts}));
    for (std::size_t i = 0; i < 9000; ++i) {
      const bool one = i == 0 || i == 10 || i == 20 || (i >= 3100 && i < 3103);
      ASSERT_EQ(memory[i], one ? 5 : i == 3200 ? 15 : 0) << i;
    }
    EXPECT_EQ(reducer->cost().traffic.messages, 2);
    EXPECT_EQ(reducer->cost().traffic.bytes, 2 * (4 + 3 * 8));
  });
}

TEST(Reducer, WrongNamesAreAnswered) {
  const auto message = [](const char* algorithm, int ranks, int per_node) {
    return error_of([&] {
      run_ranks(
          ranks, [&](Comm& comm) { tests::summing(comm, 10, {.algorithm = algorithm}); }, per_node);
    });
  };
  EXPECT_HAS(message("rong", 1, 1), "unknown algorithm 'rong' (did you mean 'ring'?)");
  EXPECT_HAS(message("shared", 2, 1), "algorithm 'shared': the ranks are on 2 nodes");
  EXPECT_HAS(message("reproducible", 3, 3), "algorithm 'reproducible': 3 ranks; their number must be a power of two");
  EXPECT_HAS(message("native", 2, 2), "algorithm 'native': these ranks have no message library");
  EXPECT_HAS(message("hierarchical(outer=rong)", 4, 2), "unknown algorithm 'rong'");
  EXPECT_HAS(message("hierarchical(otter=ring)", 4, 2), "otter");
}

// One after the other, each alone: the places where small sums are laid aside are reused many times.
TEST(Reducer, SmallSumsFollowEachOther) {
  run_ranks(
      3,
      [](Comm& comm) {
        const auto reducer = tests::summing(comm, 40);
        const std::span<float> memory = reducer->memory();
        for (int i = 0; i < 500; ++i) {
          const Range range{static_cast<std::size_t>(i % 7), static_cast<std::size_t>(i % 33)};
          for (std::size_t k = 0; k < 40; ++k) memory[k] = number(comm.rank(), i, k);
          reducer->wait(reducer->start({range, 0, "one"}));
          for (std::size_t k = 0; k < 40; ++k) {
            const bool summed = k >= range.begin && k < range.end();
            ASSERT_EQ(memory[k], summed ? 6 * number(0, i, k) : number(comm.rank(), i, k))
                << "sum " << i << " at " << k;
          }
        }
      },
      3);
}

// Sums of one step are waited for in the next, as in lagged updates.
TEST(Reducer, SumsOverlapSteps) {
  run_ranks(
      4,
      [](Comm& comm) {
        const auto reducer = tests::summing(comm, 2000);
        const std::span<float> memory = reducer->memory();
        Reducer::Sum before = -1;
        for (int step = 0; step < 50; ++step) {
          const std::size_t begin = step % 2 ? 1000 : 0, count = step % 3 ? 1000 : 20;
          for (std::size_t i = 0; i < count; ++i) memory[begin + i] = number(comm.rank(), step, i);
          const Reducer::Sum now = reducer->start({{begin, count}, 0, "lagged"});
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
        2, [](Comm& comm) { tests::summing(comm, comm.rank() == 0 ? 10 : 11); }, 2);
  });
  EXPECT_HAS(message, "rank 0 has 10 numbers, rank 1 has 11");
}

void wait_for_failure(Comm& comm) {
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) comm.check();
}

TEST(Reducer, AFailureEndsAllWaits) {
  for (const char* algorithm : {"auto", "ring"})
    for (const int per_node : {1, 2, 3, 4})
      EXPECT_HAS(error_of([&] {
                   run_ranks(
                       4,
                       [&](Comm& comm) {
                         const auto reducer = tests::summing(comm, 3000, {.algorithm = algorithm});
                         reducer->wait(reducer->start({{0, 3000}, 0, "good"}));
                         const Reducer::Sum a = reducer->start({{0, 2000}, 0, "a"});
                         if (comm.rank() == 2) fail("the disk is full");
                         const Reducer::Sum b = reducer->start({{2000, 1000}, 1, "b"});
                         reducer->wait(b);
                         reducer->wait(a);
                       },
                       per_node);
                 }),
                 "[rank 2] the disk is full");
}

TEST(Reducer, AMissingRankIsReportedAndEndsTheJob) {
  for (const int per_node : {1, 2, 3}) {
    testing::internal::CaptureStderr();
    const std::string message = error_of([&] {
      run_ranks(
          3,
          [&](Comm& comm) {
            // Before all ranks meet in summing(), so that the others see the note however late this rank is.
            if (comm.rank() == 1) comm.note("reading batch 13");
            const auto reducer = tests::summing(comm, 1000, {.warn_seconds = 0.05, .stall_seconds = 0.2});
            if (comm.rank() == 1) wait_for_failure(comm);
            reducer->wait(reducer->start({{0, 1000}, 0, "step 12: gradients 3 of 7"}));
          },
          per_node);
    });
    const std::string told = testing::internal::GetCapturedStderr();
    for (const std::string& text : {message, told}) {
      EXPECT_HAS(text, "sum 'step 12: gradients 3 of 7' waits ");
      EXPECT_HAS(text, "rank 1 (it says: 'reading batch 13')");
    }
    EXPECT_HAS(told, "isobar: sum");
    EXPECT_HAS(told, "; the job ends after 0.2 s\n");
  }
}

}  // namespace
}  // namespace isobar::comm
