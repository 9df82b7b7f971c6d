// State of every scope on its way between ranks: into checkpoints, out of them, and when members change.
#include "isobar/train/rank_state.hpp"

#include <gtest/gtest.h>

#include "isobar/train/carried.hpp"

#include "tests/expect_error.hpp"
#include "tests/train/recorder.hpp"
#include "tests/train/strategy_with.hpp"

namespace isobar::train {
namespace {

using namespace isobar::tests;
using checkpoint::Snapshot;
using exec::StateBlock;
using Scope = StateBlock::Scope;
using Merge = StateBlock::Merge;
using Start = StateBlock::Start;

// A model and one block on one rank.
struct RankModel {
  explicit RankModel(StateBlock rules, std::vector<StateBlock::Cut> cuts = {}) : block(std::move(rules)) {
    omp_set_num_threads(1);
    store.initialize(3);
    block.cuts = std::move(cuts);
    array.resize(block.scope == Scope::piece ? count_of(block.cuts) : store.all_gradients().size());
    block.content = std::span(array);
  }
  RankModel(const RankModel&) = delete;

  void fill(float number) {
    checkpoint::set_plain_array(store, std::vector<float>(checkpoint::plain_count(store), number), array);
  }
  // The number in all places of an array.
  float number() const {
    const std::vector<float> plain = checkpoint::plain_array(store, array);
    EXPECT_EQ(plain, std::vector<float>(plain.size(), plain.at(0)));
    return plain.at(0);
  }

  exec::ParamStore store{graph::make_plan(small_network(2, {.norm = true})), 0};
  StateBlock block;
  std::vector<float> array;
};

StateBlock own(Merge merge, Start start = Start::zero) {
  return {.name = "own", .content = {}, .scope = Scope::each_rank, .merge = merge, .start = start};
}
StateBlock shard(Start start = Start::zero) {
  return {.name = "shard", .content = {}, .scope = Scope::piece, .start = start};
}

// Rank r has the number r + 1.
Snapshot gathered_from(int ranks, const StateBlock& rules) {
  Snapshot all;
  comm::run_ranks(ranks, [&](comm::Comm& comm) {
    RankModel mine(rules, even_cut(RankModel(rules).store, comm.rank(), comm.size()));
    if (rules.scope == Scope::piece) {
      const std::vector<float> part = cut_from(mine.store, numbered(mine.store), mine.block.cuts);
      std::ranges::copy(part, mine.array.begin());
    } else {
      mine.fill(static_cast<float>(comm.rank() + 1));
    }
    Snapshot into;
    if (comm.rank() == 0) take_snapshot(into, mine.store, {}, {mine.block});
    gather_state(comm, mine.store, {mine.block}, {checkpoint::own_statistics(mine.store), {}}, false, into);
    if (comm.rank() == 0) all = into;
  });
  return all;
}

TEST(RankState, GoesToAFileAndOutToAnyNumberOfRanks) {
  for (const int writers : {1, 2, 3, 5}) {
    const Snapshot pieces = gathered_from(writers, shard()), sums = gathered_from(writers, own(Merge::sum)),
                   means = gathered_from(writers, own(Merge::mean));
    EXPECT_EQ(sums.ranks, writers);
    for (const int readers : {1, 2, 4}) {
      std::vector<float> sum(static_cast<std::size_t>(readers)), mean(sum.size());
      comm::run_ranks(readers, [&](comm::Comm& comm) {
        const auto rank = static_cast<std::size_t>(comm.rank());
        RankModel a(shard(), even_cut(RankModel(shard()).store, comm.rank(), readers)), b(own(Merge::sum)),
            c(own(Merge::mean));
        spread_state(comm, comm.rank() == 0 ? pieces : Snapshot(), a.store, {a.block});
        EXPECT_EQ(a.array, cut_from(a.store, numbered(a.store), a.block.cuts));
        spread_state(comm, comm.rank() == 0 ? sums : Snapshot(), b.store, {b.block});
        sum[rank] = b.number();
        spread_state(comm, comm.rank() == 0 ? means : Snapshot(), c.store, {c.block});
        mean[rank] = c.number();
      });
      float total = 0;
      for (int r = 0; r < readers; ++r) {
        total += sum[static_cast<std::size_t>(r)];
        const float own_one = static_cast<float>(r + 1), mean_of_all = static_cast<float>(writers + 1) / 2;
        EXPECT_EQ(mean[static_cast<std::size_t>(r)], writers == readers ? own_one : mean_of_all);
      }
      EXPECT_EQ(total, static_cast<float>(writers * (writers + 1) / 2)) << writers << " to " << readers;
    }
  }
}

// Of four ranks the third has died; a new one takes its place, or the others are cut anew.
TEST(RankState, PiecesAreCutAnewWhenARankHasDied) {
  for (const bool replaced : {false, true})
    for (const Start start : {Start::zero, Start::weights}) {
      const int ranks = replaced ? 4 : 3;
      comm::run_ranks(ranks, [&](comm::Comm& comm) {
        const bool is_new = replaced && comm.rank() == 2;
        const int before = comm.rank() == 2 ? 3 : comm.rank();  // the new one's own cut does not count
        const RankModel any(shard());
        const exec::ParamStore& store = any.store;
        RankModel then(shard(start), even_cut(store, before, 4)),
            now(shard(start), even_cut(store, comm.rank(), ranks));
        const std::vector<float> plain = numbered(then.store);
        std::ranges::copy(cut_from(then.store, plain, then.block.cuts), then.array.begin());
        Snapshot mine;
        take_snapshot(mine, then.store, {}, {then.block});
        if (is_new) mine.pieces.clear(), mine.whose = Snapshot::Whose::nobody;
        restore(mine, now.store, {now.block});
        hand_over_state(comm, mine, 4, now.store, {now.block});
        // What the dead rank had begins as the block says.
        const std::vector<StateBlock::Cut> whole = even_cut(store, 0, 1), lost = even_cut(store, 2, 4);
        std::vector<float> stored = cut_from(store, plain, whole),
                           otherwise = cut_from(store, std::vector<float>(plain.size()), whole);
        if (start == Start::weights) std::ranges::copy(now.store.all_weights(), otherwise.begin());
        const auto at = static_cast<std::ptrdiff_t>(lost[0].begin);
        std::copy_n(otherwise.begin() + at, lost[0].count, stored.begin() + at);
        const auto first = stored.begin() + static_cast<std::ptrdiff_t>(now.block.cuts[0].begin);
        EXPECT_EQ(now.array, std::vector<float>(first, first + std::ssize(now.array)));
      });
    }
}

TEST(RankState, WhatIsRequiredAndDiedEndsThisGroup) {
  for (const bool pieces : {false, true})
    EXPECT_THROW(comm::run_ranks(2,
                                 [&](comm::Comm& comm) {
                                   const StateBlock rules =
                                       pieces ? shard(Start::required) : own(Merge::none, Start::required);
                                   RankModel model(rules, even_cut(RankModel(rules).store, comm.rank(), 3));
                                   Snapshot mine;
                                   take_snapshot(mine, model.store, {}, {model.block});
                                   if (comm.rank() == 1) {
                                     mine.pieces.clear(), mine.own_arrays.clear();
                                     mine.whose = Snapshot::Whose::nobody;
                                   }
                                   hand_over_state(comm, mine, 2, model.store, {model.block});
                                 }),
                 NotInPlace);
}

// Ranks have the numbers 1, 2, ...; the last may be new.
TEST(RankState, WhatRanksHaveIsMergedWhenMembersChange) {
  struct Case {
    Merge merge;
    bool is_new;
    std::size_t before;
    std::vector<float> after;
  };
  for (const Case& c : {Case{Merge::none, false, 4, {1, 2, 3}}, Case{Merge::none, true, 3, {1, 2, 0}},
                        Case{Merge::sum, false, 4, {1, 2, 3}}, Case{Merge::sum, true, 3, {1, 2, 0}},
                        Case{Merge::mean, false, 4, {2, 2, 2}}, Case{Merge::mean, true, 3, {1.5, 1.5, 1.5}},
                        Case{Merge::mean, false, 3, {1, 2, 3}}})
    comm::run_ranks(3, [&](comm::Comm& comm) {
      RankModel model(own(c.merge));
      model.fill(static_cast<float>(comm.rank() + 1));
      Snapshot mine;
      take_snapshot(mine, model.store, {}, {model.block});
      if (c.is_new && comm.rank() == 2) mine.own_arrays.clear(), mine.whose = Snapshot::Whose::nobody;
      restore(mine, model.store, {model.block});
      hand_over_state(comm, mine, c.before, model.store, {model.block});
      EXPECT_EQ(model.number(), c.after.at(static_cast<std::size_t>(comm.rank())));
    });
}

using Settings = std::vector<const char*>;

JobMaker job_with_blocks(const std::filesystem::path& folder, const Settings& settings, bool resume = false) {
  return [=](int) {
    Job job = small_job(folder, settings);
    job.strategy = std::make_unique<StrategyWith>(std::move(job.strategy));
    job.resume = resume;
    return job;
  };
}

// The newest checkpoint of a run that was stopped after some steps on some ranks and ended on others; 0: never stopped.
Snapshot trained_with_blocks(const std::filesystem::path& folder, int from, int to, std::int64_t stop,
                             const Settings& settings) {
  if (stop > 0) {
    Recorder first(stop);
    run_on(from, job_with_blocks(folder, settings), first, [&](int) { return &first.stop; });
  }
  Recorder rest;
  run_on(to, job_with_blocks(folder, settings, stop > 0), rest);
  return checkpoint::CheckpointFile(newest_in(folder)).read();
}

void expect_same_parts(const Snapshot& a, const Snapshot& b) {
  ASSERT_EQ(a.parts.size(), b.parts.size());
  for (const Snapshot::Part& part : a.parts) {
    const Snapshot::Part* const same = b.find(part.name);
    ASSERT_NE(same, nullptr) << part.name;
    EXPECT_TRUE(std::ranges::equal(a.values(part), b.values(*same))) << part.name;
  }
  ASSERT_EQ(a.lists.size(), b.lists.size());
  for (std::size_t i = 0; i < a.lists.size(); ++i) EXPECT_EQ(a.lists[i].numbers, b.lists[i].numbers);
}

TEST(ResumeWithBlocks, OnTheSameRanksBitForBit) {
  const TemporaryFolder folder;
  const Settings settings{"strategy=sync", "model=dense_net(norm=true)", "train.epochs=2"};
  for (const int ranks : {1, 2, 3}) {
    const auto run = [&](const char* name, std::int64_t stop) {
      return trained_with_blocks(folder.path() / std::to_string(ranks) / name, ranks, ranks, stop, settings);
    };
    const Snapshot whole = run("whole", 0), parts = run("parts", 4);
    EXPECT_NE(whole.find("pieces/kept/shard/fc1.w"), nullptr);
    EXPECT_NE(whole.find("droppable/centre/fc1.w"), nullptr);
    EXPECT_EQ(whole.own_arrays.size(), 2u);
    EXPECT_EQ(whole.lists.at(0).numbers, std::vector<double>{10});
    EXPECT_EQ(whole.own_lists.at(0).numbers.at(0), 10);
    EXPECT_EQ(whole.ranks, ranks);
    expect_same_parts(whole, parts);
    EXPECT_EQ(parts.own_numbers, whole.own_numbers);
    EXPECT_EQ(parts.own_lists.at(0).numbers, whole.own_lists.at(0).numbers);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(parts.own_arrays[i].numbers, whole.own_arrays[i].numbers);
  }
}

// What is once or in pieces does not depend on the number of ranks where the weights do not.
TEST(ResumeWithBlocks, OnOtherRanksWithOtherCutsTheWholeIsTheSame) {
  const TemporaryFolder folder;
  const Settings settings{"strategy=sync", "data.batch=8", "train.deterministic=true", "train.micro_batches=4",
                          "data.train.count=24"};
  const Snapshot whole = trained_with_blocks(folder.path() / "whole", 1, 1, 0, settings);
  for (const auto& [from, to] : {std::pair{1, 2}, {2, 4}, {4, 1}})
    expect_same_parts(whole,
                      trained_with_blocks(folder.path() / fmt::format("{}to{}", from, to), from, to, 4, settings));
}

// From a strategy without any of it, and back: what must not be dropped is refused by name.
TEST(ResumeWithBlocks, FromAnotherStrategyAndToAnother) {
  const TemporaryFolder folder;
  const Settings settings{"strategy=sync"};
  const auto stopped = [&](const char* name, bool with_blocks) {
    Recorder first(3);
    const auto run = folder.path() / name;
    run_on(
        2, with_blocks ? job_with_blocks(run, settings) : [&](int) { return small_job(run, settings); }, first,
        [&](int) { return &first.stop; });
    return run;
  };
  Recorder rest, other;
  run_on(2, job_with_blocks(stopped("plain", false), settings, true), rest);
  EXPECT_EQ(rest.losses.size(), 12u);
  const auto run = stopped("blocks", true);
  const std::string message = error_of([&] {
    run_on(
        2,
        [&](int) {
          Job job = small_job(run, settings);
          job.resume = true;
          return job;
        },
        other);
  });
  EXPECT_HAS(message, "its strategy ('sync') had something under way that must not be lost, 'shard'");
}

}  // namespace
}  // namespace isobar::train
