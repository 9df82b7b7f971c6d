#include "isobar/parallel/own_model.hpp"

#include "isobar/parallel/partial_sums.hpp"

namespace isobar::parallel {

void OwnModel::set_aside(Replica& replica) {
  if (std::exchange(aside_, true)) return;
  const std::span<float> weights = replica.weights();
  replica.timed(copying_, 0, 2.0 * static_cast<double>(weights.size_bytes()), [&] {
    kept_.resize(weights.size());
    copy_to(kept_, weights);
  });
}

void OwnModel::take_back(Replica& replica) {
  if (!std::exchange(aside_, false)) return;
  const std::span<float> weights = replica.weights();
  replica.timed(copying_, 0, 2.0 * static_cast<double>(weights.size_bytes()), [&] { copy_to(weights, kept_); });
}

exec::StateBlocks OwnModel::state(Replica& replica, bool slots_differ) {
  using Block = exec::StateBlock;
  exec::StateBlocks blocks{{.name = "own weights",
                            .content = aside_ ? std::span(kept_) : replica.weights(),
                            .scope = Block::Scope::each_rank,
                            .merge = Block::Merge::mean,
                            .start = Block::Start::weights,
                            .may_drop = true,
                            .in_use = aside_}};
  const int slots = static_cast<int>(replica[0].slots.size());
  for (int s = 0; s < slots; ++s)
    blocks.push_back({.name = fmt::format("own slot {}", s),
                      .content = replica.slot(s),
                      .scope = Block::Scope::each_rank,
                      .merge = Block::Merge::mean,
                      .start = Block::Start::slots,
                      .slot = s,
                      .may_drop = true,
                      .in_use = slots_differ});
  return blocks;
}

}  // namespace isobar::parallel
