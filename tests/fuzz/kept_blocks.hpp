// What the strategies keep whose checkpoints the fuzzer breaks.
#pragma once

#include "isobar/exec/param_store.hpp"
#include "isobar/exec/state_block.hpp"

namespace isobar::fuzz {

inline exec::StateBlocks own_numbers(std::vector<double>& own) {
  return {{.name = "own", .content = std::span(own), .scope = exec::StateBlock::Scope::each_rank, .may_drop = true}};
}

inline exec::StateBlocks under_way(std::vector<float>& block, std::vector<double>& numbers) {
  return {{.name = "lagged_gradient_0", .content = std::span(block)}, {.name = "step", .content = std::span(numbers)}};
}

/// A block of every scope and kind.
struct Kept {
  explicit Kept(const exec::ParamStore& store)
      : centre(store.all_gradients().size()), residual(centre.size()), piece(centre.size() / 2) {}

  exec::StateBlocks blocks() {
    using Block = exec::StateBlock;
    return {
        {.name = "centre", .content = std::span(centre), .start = Block::Start::weights, .may_drop = true},
        {.name = "updates", .content = std::span(updates), .may_drop = true},
        {.name = "residual",
         .content = std::span(residual),
         .scope = Block::Scope::each_rank,
         .merge = Block::Merge::sum,
         .may_drop = true},
        {.name = "clock", .content = std::span(clock), .scope = Block::Scope::each_rank, .merge = Block::Merge::mean},
        {.name = "shard",
         .content = std::span(piece),
         .scope = Block::Scope::piece,
         .start = Block::Start::required,
         .cuts = {{0, piece.size()}}}};
  }

  std::vector<float> centre, residual, piece;
  std::vector<double> updates{3}, clock{5};
};

}  // namespace isobar::fuzz
