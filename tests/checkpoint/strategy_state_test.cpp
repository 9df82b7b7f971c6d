// What becomes of a strategy's blocks when another number of ranks, or another strategy, goes on with them: every
// scope, merge and start.
#include "isobar/checkpoint/strategy_state.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/checkpoint/checkpoint.hpp"

#include "tests/checkpoint/rank_blocks.hpp"
#include "tests/expect_error.hpp"
#include "tests/fuzz/kept_blocks.hpp"
#include "tests/fuzz/small_network.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::checkpoint {
namespace {

using namespace isobar::tests;
using exec::StateBlock;
using Scope = StateBlock::Scope;
using Merge = StateBlock::Merge;
using Start = StateBlock::Start;

constexpr int counts[] = {1, 2, 3, 4, 5};

// Blocks of one kind: an array, and a list of two numbers where the scope has lists.
struct Blocks {
  Blocks(const exec::ParamStore& store, const StateBlock& rules, int rank, int ranks) {
    StateBlock block = rules;
    if (block.scope == Scope::piece) block.cuts = even_cut(store, rank, ranks);
    array.resize(block.scope == Scope::piece ? count_of(block.cuts) : store.all_gradients().size());
    block.name = "array", block.content = std::span(array);
    state.push_back(block);
    if (block.scope == Scope::piece || block.start == Start::weights) return;
    block.name = "list", block.content = std::span(list);
    state.push_back(block);
  }
  Blocks(const Blocks&) = delete;

  std::vector<float> array;
  std::vector<double> list{-1, -1};
  exec::StateBlocks state;
};

class StrategyState : public testing::TestWithParam<std::tuple<Scope, Merge, Start, bool>> {
 protected:
  StrategyState() {
    omp_set_num_threads(1);  // many small copies
    store_.initialize(3);
  }

  StateBlock rules() const {
    const auto& [scope, merge, start, may_drop] = GetParam();
    return {.name = {}, .content = {}, .scope = scope, .merge = merge, .start = start, .may_drop = may_drop};
  }
  std::vector<float> all_equal(float number) const { return std::vector<float>(plain_count(store_), number); }

  // What so many ranks wrote, which have the numbers 1, 2, 4, ... of what is theirs, and 1 of what is once.
  Snapshot written_on(int ranks) {
    std::vector<Snapshot> each(static_cast<std::size_t>(ranks));
    std::optional<Blocks> blocks;
    for (int rank = 0; rank < ranks; ++rank) {
      blocks.emplace(store_, rules(), rank, ranks);
      const float number = std::get<Scope>(GetParam()) == Scope::each_rank ? static_cast<float>(1 << rank) : 1.0f;
      if (const StateBlock& array = blocks->state[0]; array.scope == Scope::piece)
        std::ranges::copy(cut_from(store_, numbered(store_), array.cuts), blocks->array.begin());
      else set_plain_array(store_, all_equal(number), blocks->array);
      blocks->list = {static_cast<double>(number), 10.0 * static_cast<double>(number)};
      take_snapshot(each[static_cast<std::size_t>(rank)], store_, {.step = 3}, blocks->state);
    }
    const Snapshot all = put_together(store_, blocks->state, each);
    if (ranks != 2) return all;  // one number of ranks through a file
    write_checkpoint(folder_.path() / "c.h5", all);
    return CheckpointFile(folder_.path() / "c.h5").read();
  }

  // What rank `rank` of `ranks` goes on with, of what those wrote: the number of its array, in all places.
  std::optional<float> expected(int writers, int rank, int ranks) const {
    const auto& [scope, merge, start, may_drop] = GetParam();
    if (scope == Scope::once) return 1.0f;
    if (writers == ranks) return static_cast<float>(1 << rank);
    const float total = static_cast<float>((1 << writers) - 1);
    if (merge == Merge::mean) return total / static_cast<float>(writers);
    if (merge == Merge::none) return std::nullopt;
    float sum = 0;
    for (int r = rank; r < writers; r += ranks) sum += static_cast<float>(1 << r);
    return sum;
  }

  // Plain numbers of a block that begins as it says.
  std::vector<float> beginning_of(Start start) const {
    return start == Start::weights ? plain_array(store_, store_.all_weights()) : all_equal(0);
  }

  exec::ParamStore store_{graph::make_plan(small_network(2, {.norm = true})), 1};
  const TemporaryFolder folder_;
};

TEST_P(StrategyState, GoesOnOnAnyNumberOfRanks) {
  const auto& [scope, merge, start, may_drop] = GetParam();
  for (const int writers : counts) {
    const Snapshot snapshot = written_on(writers);
    for (const int ranks : counts)
      for (int rank = 0; rank < ranks; ++rank) {
        SCOPED_TRACE(fmt::format("{} to {}, rank {}", writers, ranks, rank));
        Blocks blocks(store_, rules(), rank, ranks);
        const auto go_on = [&] { restore(snapshot, store_, blocks.state, rank, ranks); };
        if (scope == Scope::piece) {
          go_on();
          ASSERT_EQ(blocks.array, cut_from(store_, numbered(store_), blocks.state[0].cuts));
          continue;
        }
        const std::optional<float> number = expected(writers, rank, ranks);
        if (!number && start == Start::required) {
          EXPECT_HAS(error_of(go_on), fmt::format("cannot be continued on {}: resume on {}", ranks, writers));
          continue;
        }
        go_on();
        ASSERT_EQ(plain_array(store_, blocks.array), number ? all_equal(*number) : beginning_of(start));
        if (blocks.state.size() == 1) continue;
        const double first = number.value_or(0.0f);
        EXPECT_NEAR(blocks.list[0], first, 1e-6);
        EXPECT_NEAR(blocks.list[1], 10 * first, 1e-5);
      }
  }
}

TEST_P(StrategyState, BeginsAsItSaysWhereAFileLacksIt) {
  const auto& [scope, merge, start, may_drop] = GetParam();
  Snapshot without;
  take_snapshot(without, store_, {}, {});
  without.whose = Snapshot::Whose::all;
  without.recipe = "strategy = \"sync\"\n";
  without.origin = "checkpoint 'a'";
  for (const int ranks : {1, 3}) {
    Blocks blocks(store_, rules(), ranks - 1, ranks);
    std::ranges::fill(blocks.array, 7.0f);
    const auto go_on = [&] { restore(without, store_, blocks.state, ranks - 1, ranks); };
    if (start == Start::required) {
      EXPECT_HAS(error_of(go_on), "checkpoint 'a': has no 'array', which the recipe's strategy cannot begin without");
      EXPECT_HAS(error_of(go_on), "its own strategy ('sync') does not keep it");
      EXPECT_EQ(blocks.array[0], 7.0f) << "nothing changes where it is refused";
      continue;
    }
    go_on();
    if (scope == Scope::piece) EXPECT_EQ(blocks.array, cut_from(store_, beginning_of(start), blocks.state[0].cuts));
    else EXPECT_EQ(plain_array(store_, blocks.array), beginning_of(start));
    EXPECT_EQ(blocks.list, blocks.state.size() > 1 ? std::vector<double>(2) : (std::vector<double>{-1, -1}));
  }
}

TEST_P(StrategyState, AnotherStrategyDropsItOrRefuses) {
  const auto& [scope, merge, start, may_drop] = GetParam();
  const Snapshot snapshot = written_on(2);
  exec::ParamStore other(graph::make_plan(small_network(2, {.norm = true})), 1);
  if (may_drop) {
    restore(snapshot, other, {});
    EXPECT_EQ(plain_array(other, other.all_weights()), plain_array(store_, store_.all_weights()));
  } else {
    EXPECT_HAS(error_of([&] { restore(snapshot, other, {}); }), "which the recipe's strategy does not know");
  }
}

// All blocks of a new run are zeros, but for those that begin with its weights.
TEST_P(StrategyState, ANewRunBegins) {
  const auto& [scope, merge, start, may_drop] = GetParam();
  Blocks blocks(store_, rules(), 1, 2);
  begin_state(store_, blocks.state);
  const std::vector<float> plain = start == Start::weights ? beginning_of(start) : all_equal(0);
  if (scope == Scope::piece) EXPECT_EQ(blocks.array, cut_from(store_, plain, blocks.state[0].cuts));
  else EXPECT_EQ(plain_array(store_, blocks.array), plain);
}

std::string name_of(const testing::TestParamInfo<StrategyState::ParamType>& info) {
  constexpr const char* scopes[] = {"once", "each", "piece"};
  constexpr const char* merges[] = {"none", "sum", "mean"};
  constexpr const char* starts[] = {"zero", "weights", "slots", "required"};
  const auto& [scope, merge, start, may_drop] = info.param;
  return fmt::format("{}_{}_{}_{}", scopes[static_cast<int>(scope)], merges[static_cast<int>(merge)],
                     starts[static_cast<int>(start)], may_drop ? "dropped" : "kept");
}

INSTANTIATE_TEST_SUITE_P(Rules, StrategyState,
                         testing::Combine(testing::Values(Scope::once, Scope::each_rank, Scope::piece),
                                          testing::Values(Merge::none, Merge::sum, Merge::mean),
                                          testing::Values(Start::zero, Start::weights, Start::required),
                                          testing::Bool()),
                         name_of);

TEST(StrategyStates, WhatIsNotInUseIsLeftOut) {
  exec::ParamStore store(graph::make_plan(small_network(2)), 0);
  std::vector<float> array(store.all_gradients().size(), 2);
  std::vector<double> list{5};
  for (const bool in_use : {false, true})
    for (const Scope scope : {Scope::once, Scope::each_rank, Scope::piece}) {
      exec::StateBlocks state{{.name = "array",
                               .content = std::span(array),
                               .scope = scope,
                               .in_use = in_use,
                               .cuts = even_cut(store, 0, 1)}};
      if (scope != Scope::piece)
        state.push_back({.name = "list", .content = std::span(list), .scope = scope, .in_use = in_use});
      Snapshot snapshot, model;
      take_snapshot(snapshot, store, {}, state);
      take_snapshot(model, store, {}, {});
      EXPECT_EQ(snapshot.bytes() > model.bytes(), in_use);
    }
}

TEST(StrategyStates, MistakesOfAStrategyAreFound) {
  const exec::ParamStore store(graph::make_plan(small_network(2)), 0);
  std::vector<float> array(store.all_gradients().size());
  std::vector<double> list(1);
  const StateBlock sound{.name = "a", .content = std::span(array)}, numbers{.name = "b", .content = std::span(list)};
  const auto taken = [&](const exec::StateBlocks& state) {
    Snapshot snapshot;
    take_snapshot(snapshot, store, {}, state);
  };
  taken({sound, numbers});
  StateBlock slash = sound, piece = numbers, weights = numbers, few = sound;
  slash.name = "a/b", piece.scope = Scope::piece, weights.start = Start::weights;
  few.scope = Scope::piece, few.cuts = {{0, array.size() - 1}};
  for (const StateBlock& wrong : {slash, piece, weights, few, sound}) EXPECT_ANY_THROW(taken({sound, wrong}));
}

// Files that earlier programs of format 2 wrote, and one of format 3, with which the fuzzer begins.
TEST(OlderFiles, AreRead) {
  const auto read = [](const char* name) {
    const CheckpointFile file(std::filesystem::path(ISOBAR_SOURCES) / "tests/fuzz/checkpoint_corpus" / name);
    file.verify();
    return std::pair(file.index().format, file.read());
  };
  exec::ParamStore store = fuzz::small_network();
  std::vector<double> own{1}, numbers(2);
  std::vector<float> block(store.all_gradients().size());
  {
    const auto& [format, snapshot] = read("sync.h5");
    EXPECT_EQ(format, 2);
    restore(snapshot, store, fuzz::own_numbers(own));
    EXPECT_EQ(own, std::vector<double>{4});
  }
  {
    const auto& [format, snapshot] = read("lagged.h5");
    EXPECT_EQ(format, 2);
    exec::StateBlocks state = fuzz::own_numbers(own);
    EXPECT_HAS(error_of([&] { restore(snapshot, store, state, 1, 2); }), "must not be lost, 'lagged_gradient_0'");
    for (const StateBlock& one : fuzz::under_way(block, numbers)) state.push_back(one);
    restore(snapshot, store, state, 1, 2);
    EXPECT_EQ(own, std::vector<double>{5});
    EXPECT_EQ(numbers, (std::vector<double>{7, 0.1}));
    EXPECT_EQ(plain_array(store, block), std::vector<float>(plain_count(store), 0.5f));
  }
  {
    const auto& [format, snapshot] = read("scopes.h5");
    EXPECT_EQ(format, 3);
    fuzz::Kept kept(store);
    kept.updates = kept.clock = {0};
    restore(snapshot, store, kept.blocks());
    EXPECT_EQ(kept.updates, std::vector<double>{3});
    EXPECT_EQ(kept.clock, std::vector<double>{5});
    for (const std::vector<float>* array : {&kept.centre, &kept.residual})
      EXPECT_EQ(plain_array(store, *array), std::vector<float>(plain_count(store), 0.25f));
    EXPECT_EQ(kept.piece.front(), 0.25f);
  }
}

}  // namespace
}  // namespace isobar::checkpoint
