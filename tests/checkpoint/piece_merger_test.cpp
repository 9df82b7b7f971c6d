#include "isobar/checkpoint/piece_merger.hpp"

#include <gtest/gtest.h>

#include "isobar/checkpoint/checkpoint.hpp"

#include "tests/checkpoint/rank_blocks.hpp"
#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::checkpoint {
namespace {

using namespace isobar::tests;
using exec::StateBlock;
using Cuts = std::vector<StateBlock::Cut>;
using Merge = StateBlock::Merge;
using Start = StateBlock::Start;

class Pieces : public testing::Test {
 protected:
  Pieces() {
    omp_set_num_threads(1);  // many small copies
    store_.initialize(3);
  }

  StateBlock block(std::vector<float>& content, const Cuts& cuts, Merge merge = Merge::none,
                   Start start = Start::zero) {
    content.resize(count_of(cuts));
    return {.name = "shard",
            .content = std::span(content),
            .scope = StateBlock::Scope::piece,
            .merge = merge,
            .start = start,
            .may_drop = true,
            .cuts = cuts};
  }

  // The whole of ranks with these cuts; rank r has the numbers of `plain` there, times its factor.
  Snapshot whole(const std::vector<Cuts>& ranks, const std::vector<float>& plain, Merge merge = Merge::none,
                 Start start = Start::zero, const std::vector<float>& factors = {}) {
    std::vector<float> content;
    const StateBlock any = block(content, {}, merge, start);
    PieceMerger merger(any, store_);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      content = cut_from(store_, plain, ranks[r]);
      for (float& number : content) number *= factors.empty() ? 1 : factors.at(r);
      merger.add(copy_pieces(block(content, ranks[r], merge, start), store_));
    }
    Snapshot all;
    all.whose = Snapshot::Whose::all;
    merger.append_to(all);
    return all;
  }

  std::vector<float> read(const Snapshot& snapshot, const Cuts& cuts, Start start = Start::zero) {
    std::vector<float> content;
    return pieces_for(cuts, block(content, cuts, Merge::none, start), snapshot, store_);
  }
  Cuts of_weight(int p) { return {{store_.offset(p), store_.gradient(p).size()}}; }

  exec::ParamStore store_{graph::make_plan(blocked_network()), 0};
};

TEST_F(Pieces, TheNetworkOfTheseTestsHasPaddingAndBlocks) {
  std::size_t stored = 0;
  for (int p = 0; p < store_.count(); ++p) stored += store_.gradient(p).size();
  EXPECT_GT(stored, plain_count(store_));
}

// Any number of ranks writes the same arrays, and any other number reads them.
TEST_F(Pieces, AnyCutsWriteTheSameWholeAndAnyOthersReadIt) {
  const std::vector<float> plain = numbered(store_);
  Snapshot all;
  for (const int writers : {1, 2, 3, 4, 5}) {
    std::vector<Cuts> cuts;
    for (int rank = 0; rank < writers; ++rank) cuts.push_back(even_cut(store_, rank, writers));
    all = whole(cuts, plain);
    ASSERT_EQ(std::ssize(all.parts), store_.count());
    EXPECT_EQ(all.numbers, plain) << writers;
    EXPECT_EQ(all.parts[0].name, "pieces/droppable/shard/" + store_.parameter(0).name);
    EXPECT_EQ(all.parts[0].shape, store_.parameter(0).declared.shape);
  }
  for (const int readers : {1, 2, 3, 4, 5})
    for (int rank = 0; rank < readers; ++rank) {
      const Cuts mine = even_cut(store_, rank, readers);
      EXPECT_EQ(read(all, mine), cut_from(store_, plain, mine)) << "rank " << rank << " of " << readers;
    }
}

// As servers have them: several weights each, in any order.
TEST_F(Pieces, ARankMayHaveSeveralWeights) {
  std::vector<Cuts> cuts(2);
  for (int p = store_.count() - 1; p >= 0; --p) cuts[p % 2].push_back(of_weight(p)[0]);
  const std::vector<float> plain = numbered(store_);
  const Snapshot all = whole(cuts, plain);
  EXPECT_EQ(all.numbers, plain);
  for (const Cuts& mine : cuts) EXPECT_EQ(read(all, mine), cut_from(store_, plain, mine));
}

TEST_F(Pieces, WhereTheyOverlapTheMergeDecides) {
  const Cuts all = even_cut(store_, 0, 1), half = even_cut(store_, 0, 2), other = even_cut(store_, 1, 2);
  const std::vector<float> ones(plain_count(store_), 1);
  const auto constant = [&](float number, const Cuts& cuts) {
    return cut_from(store_, std::vector<float>(ones.size(), number), cuts);
  };
  for (const auto& [merge, of_three, of_two] :
       {std::tuple(Merge::none, 1.0f, 3.0f), {Merge::sum, 12.0f, 11.0f}, {Merge::mean, 4.0f, 5.5f}}) {
    const Snapshot made = whole({half, all, all}, ones, merge, Start::zero, {1, 3, 8});
    EXPECT_EQ(read(made, half), constant(of_three, half));
    EXPECT_EQ(read(made, other), constant(of_two, other));
  }
}

TEST_F(Pieces, WhatNobodyHasBeginsAsTheBlockSays) {
  const std::vector<float> plain = numbered(store_);
  const Cuts all = even_cut(store_, 0, 1), last = even_cut(store_, 3, 4), weight = of_weight(1);
  const std::vector<float> weights = plain_array(store_, store_.all_weights());

  // Arrays only for weights of which somebody has a number.
  const Snapshot one = whole({weight}, plain);
  ASSERT_EQ(one.parts.size(), 1u);
  std::vector<float> expected = cut_from(store_, std::vector<float>(plain.size()), all);
  std::ranges::copy(cut_from(store_, plain, weight), expected.begin() + static_cast<std::ptrdiff_t>(weight[0].begin));
  EXPECT_EQ(read(one, all), expected);
  expected = cut_from(store_, weights, all);
  std::ranges::copy(cut_from(store_, plain, weight), expected.begin() + static_cast<std::ptrdiff_t>(weight[0].begin));
  EXPECT_EQ(read(one, all, Start::weights), expected);
  EXPECT_EQ(read(one, weight, Start::required), cut_from(store_, plain, weight));
  EXPECT_HAS(error_of([&] { read(one, all, Start::required); }), "no rank had all numbers of 'shard' for '");

  // A gap within a weight is filled when the whole is made.
  expected = cut_from(store_, weights, all);
  std::ranges::copy(cut_from(store_, plain, last), expected.begin() + static_cast<std::ptrdiff_t>(last[0].begin));
  EXPECT_EQ(read(whole({last}, plain, Merge::none, Start::weights), all, Start::weights), expected);
  const Cuts inside{{weight[0].begin, weight[0].count / 2}};
  EXPECT_HAS(error_of([&] { whole({inside}, plain, Merge::none, Start::required); }), "they are required");
}

TEST_F(Pieces, ARankGoesBackToItsOwn) {
  const Cuts cuts = even_cut(store_, 1, 3);
  std::vector<float> content;
  content = cut_from(store_, numbered(store_), cuts);
  const exec::StateBlocks state{block(content, cuts, Merge::none, Start::required)};
  Snapshot snapshot;
  take_snapshot(snapshot, store_, {}, state);
  const std::vector<float> before = content;
  std::ranges::fill(content, 0.0f);
  restore(snapshot, store_, state);
  EXPECT_EQ(content, before);
}

TEST_F(Pieces, AFileHoldsThemAsArraysOfTheWeightsShapes) {
  std::vector<float> contents[2];
  std::vector<Snapshot> each(2);
  exec::StateBlocks blocks;
  for (int rank = 0; rank < 2; ++rank) {
    const Cuts cuts = even_cut(store_, rank, 2);
    blocks = {block(contents[rank], cuts)};
    std::ranges::copy(cut_from(store_, numbered(store_), cuts), contents[rank].begin());
    take_snapshot(each[rank], store_, {.step = 4}, blocks);
  }
  const TemporaryFolder folder;
  write_checkpoint(folder.path() / "c.h5", put_together(store_, blocks, each));
  const CheckpointFile file(folder.path() / "c.h5");
  file.verify();
  EXPECT_EQ(file.index().format, 3);
  const Snapshot back = file.read();
  EXPECT_EQ(back.whose, Snapshot::Whose::all);
  EXPECT_EQ(read(back, even_cut(store_, 2, 3)), cut_from(store_, numbered(store_), even_cut(store_, 2, 3)));
  EXPECT_EQ(file.read_weights().find("pieces/droppable/shard/fc.w"), nullptr);
  EXPECT_NE(back.find("pieces/droppable/shard/fc.w"), nullptr);
}

}  // namespace
}  // namespace isobar::checkpoint
