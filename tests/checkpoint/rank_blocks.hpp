// Ranks of a test that have only what a checkpoint needs: a model, and blocks. What several ranks wrote is put together
// here as the trainer does it, without messages.
#pragma once

#include <omp.h>

#include "isobar/checkpoint/piece_merger.hpp"
#include "isobar/checkpoint/plain_layout.hpp"
#include "isobar/checkpoint/strategy_state.hpp"

#include "tests/checkpoint/small_network.hpp"

namespace isobar::tests {

/// A network with weights that are stored in blocks, some with padding.
inline graph::Graph blocked_network() {
  graph::Graph g;
  graph::ValueId h = g.input("x", {2, 6, 6, 3});
  h = g.add("conv(filters=20, kernel=3)", h, "conv1");
  h = g.add("conv(filters=9, kernel=3)", h, "conv2");
  h = g.add("batch_norm", h, "norm");
  h = g.add("flatten", h);
  h = g.add("dense(units=3)", h, "fc");
  g.output("prediction", h);
  g.loss(g.add("mse", {h, g.input("y", {2, 3})}, "loss"));
  return g;
}

/// Cuts so many numbers into `ranks` equal ranges, the last with the rest: what rank `rank` has.
inline std::vector<exec::StateBlock::Cut> even_cut(std::size_t all, int rank, int ranks) {
  const std::size_t share = all / static_cast<std::size_t>(ranks), begin = static_cast<std::size_t>(rank) * share;
  return {{begin, rank == ranks - 1 ? all - begin : share}};
}
inline std::vector<exec::StateBlock::Cut> even_cut(const exec::ParamStore& store, int rank, int ranks) {
  return even_cut(store.all_gradients().size(), rank, ranks);
}

inline std::size_t count_of(std::span<const exec::StateBlock::Cut> cuts) {
  std::size_t count = 0;
  for (const auto& cut : cuts) count += cut.count;
  return count;
}

/// A number for every place of the model, by which it can be told apart; in plain layout.
inline std::vector<float> numbered(const exec::ParamStore& store, float first = 1) {
  std::vector<float> plain(checkpoint::plain_count(store));
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = first + static_cast<float>(i);
  return plain;
}

/// What these cuts have of an array in plain layout.
inline std::vector<float> cut_from(const exec::ParamStore& store, const std::vector<float>& plain,
                                   std::span<const exec::StateBlock::Cut> cuts) {
  std::vector<float> stored(store.all_gradients().size()), mine;
  checkpoint::set_plain_array(store, plain, stored);
  for (const auto& cut : cuts) {
    const auto from = stored.begin() + static_cast<std::ptrdiff_t>(cut.begin);
    mine.insert(mine.end(), from, from + static_cast<std::ptrdiff_t>(cut.count));
  }
  return mine;
}

/// The snapshot of all ranks from those that each took of itself, in their order.
inline checkpoint::Snapshot put_together(const exec::ParamStore& store, const exec::StateBlocks& blocks,
                                         const std::vector<checkpoint::Snapshot>& each) {
  checkpoint::Snapshot all = each.at(0);
  all.ranks = static_cast<int>(each.size());
  all.whose = checkpoint::Snapshot::Whose::all;
  all.pieces.clear();
  for (std::size_t r = 1; r < each.size(); ++r) {
    const auto append = [](auto& to, const auto& more) { to.insert(to.end(), more.begin(), more.end()); };
    append(all.statistics, each[r].statistics);
    append(all.own_numbers, each[r].own_numbers);
    for (std::size_t i = 0; i < all.own_arrays.size(); ++i)
      append(all.own_arrays[i].numbers, each[r].own_arrays.at(i).numbers);
    for (std::size_t i = 0; i < all.own_lists.size(); ++i)
      append(all.own_lists[i].numbers, each[r].own_lists.at(i).numbers);
  }
  std::size_t piece = 0;
  for (const exec::StateBlock& block : blocks) {
    if (!block.is_array(exec::StateBlock::Scope::piece)) continue;
    checkpoint::PieceMerger merger(block, store);
    for (const checkpoint::Snapshot& one : each) merger.add(one.pieces.at(piece));
    merger.append_to(all);
    ++piece;
  }
  return all;
}

}  // namespace isobar::tests
