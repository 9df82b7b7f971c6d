// Writes the seeds of the checkpoint fuzzer: make_checkpoint_corpus FOLDER; run it when the format changes.
#include <algorithm>
#include <filesystem>

#include "isobar/checkpoint/checkpoint.hpp"
#include "isobar/checkpoint/piece_merger.hpp"

#include "tests/fuzz/kept_blocks.hpp"
#include "tests/fuzz/small_network.hpp"

int main(int count, char** words) {
  using namespace isobar;
  if (count != 2) return 2;
  const std::filesystem::path folder = words[1];
  std::filesystem::create_directories(folder);
  exec::ParamStore store = fuzz::small_network();
  store.initialize(1);
  std::vector<float> block(store.all_gradients().size(), 0.5f);
  std::vector<double> numbers{7, 0.1}, own{4};
  exec::StateBlocks state = fuzz::own_numbers(own);
  checkpoint::Snapshot snapshot;
  take_snapshot(snapshot, store, {.step = 7, .epoch = 1, .batch = 2, .rows = 2}, state);
  snapshot.recipe = "seed = 1\n";
  snapshot.plan = "00ff";
  write_checkpoint(folder / "sync.h5", snapshot);
  for (const exec::StateBlock& one : fuzz::under_way(block, numbers)) state.push_back(one);
  take_snapshot(snapshot, store, {.step = 7}, state);
  snapshot.metrics = "{}\n";
  snapshot.ranks = 2;
  snapshot.statistics.insert(snapshot.statistics.end(), snapshot.statistics.begin(), snapshot.statistics.end());
  snapshot.own_numbers.push_back(5);
  write_checkpoint(folder / "lagged.h5", snapshot);
  // Of every scope, which makes it format 3.
  fuzz::Kept kept(store);
  for (std::vector<float>* array : {&kept.centre, &kept.residual, &kept.piece}) std::ranges::fill(*array, 0.25f);
  take_snapshot(snapshot, store, {.step = 9}, kept.blocks());
  checkpoint::PieceMerger merger(kept.blocks().back(), store);
  merger.add(snapshot.pieces.at(0));
  merger.append_to(snapshot);
  snapshot.pieces.clear();
  write_checkpoint(folder / "scopes.h5", snapshot);
  return 0;
}
