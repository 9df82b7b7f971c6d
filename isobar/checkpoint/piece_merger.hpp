// Pieces of one whole, which ranks have between them. Each rank copies its own in plain layout, with the places of its
// numbers; a checkpoint holds the whole that results, one array for every weight of which some rank had a number. From
// that, or from what one rank copied, any other cuts are filled.
#pragma once

#include "isobar/checkpoint/snapshot.hpp"

namespace isobar::checkpoint {

/// The array of a weight in a checkpoint: "pieces/kept/BLOCK/WEIGHT", or "pieces/droppable/..." where the block may be
/// dropped.
std::string piece_name(const exec::StateBlock& block, const std::string& weight);

/// A copy of this rank's pieces.
Snapshot::OwnPieces copy_pieces(const exec::StateBlock& block, const exec::ParamStore& store);

/// Makes one whole of the pieces of all ranks.
class PieceMerger {
 public:
  /// Both must outlive this. The store has the weights of the run.
  PieceMerger(const exec::StateBlock& block, const exec::ParamStore& store);

  /// In the order of ranks: where pieces overlap, the block's merge decides.
  void add(const Snapshot::OwnPieces& pieces);
  /// Appends the arrays to the snapshot's. What no rank has within them begins as the block says; throws Error if it
  /// is required.
  void append_to(Snapshot& into) const;

 private:
  const exec::StateBlock& block_;
  const exec::ParamStore& store_;
  std::vector<float> numbers_;           // in plain layout
  std::vector<std::uint16_t> how_many_;  // ranks that have the number
};

/// The numbers of these cuts of a block, from the arrays of a checkpoint or from what a rank copied. What neither has
/// begins as the block says: with zeros or the store's weights. Throws Error if it is required and missing in a
/// checkpoint.
std::vector<float> pieces_for(std::span<const exec::StateBlock::Cut> cuts, const exec::StateBlock& block,
                              const Snapshot& snapshot, const exec::ParamStore& store);

}  // namespace isobar::checkpoint
