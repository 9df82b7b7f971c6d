// StateBlock: a part of what a run keeps from step to step besides weights and optimizer slots: typed memory with a
// name, and what becomes of it when the ranks or the strategy of a run change. Its owner goes on using the memory;
// whoever keeps the state of the run reads and writes it between steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace isobar::exec {

struct StateBlock {
  enum class Scope {
    once,       ///< equal on all ranks between steps
    each_rank,  ///< of every rank for itself
    piece,      ///< a part of one whole: every rank has some of its numbers
  };
  /// What becomes of that of every rank when a run goes on with more or fewer ranks; and of pieces where they overlap.
  enum class Merge {
    none,  ///< all begin again, as `start` says; where pieces overlap, the lowest rank's numbers count
    sum,   ///< nothing is lost: ranks that go on take the sum of those that do not, new ones zeros; pieces are added
    mean,  ///< all go on with the mean of all; so do pieces where they overlap
  };
  /// What it begins with where a checkpoint does not have it, or no rank had that part of a whole.
  enum class Start {
    zero,
    weights,   ///< arrays only: a copy of the weights the run goes on with
    slots,     ///< arrays only: a copy of the optimizer's numbers `slot`, likewise
    required,  ///< nothing: such a checkpoint is refused. A new run begins with zeros
  };
  /// Numbers in the memory of all gradients that follow each other.
  struct Cut {
    std::size_t begin = 0, count = 0;
    bool operator==(const Cut&) const = default;
  };

  std::string name;  ///< without '/'
  /// Floats are arrays: as many as all gradients, and laid out like them; of a piece, the numbers of its cuts, one
  /// after the other. The others are lists of numbers, which have no pieces.
  std::variant<std::span<float>, std::span<double>, std::span<std::int64_t>> content;
  Scope scope = Scope::once;
  Merge merge = Merge::none;
  Start start = Start::zero;
  int slot = 0;  ///< of the optimizer, where it begins with its numbers
  /// Whether another strategy, which does not know it, may go on without it; otherwise it refuses the checkpoint.
  bool may_drop = false;
  /// Whether there is anything in it now, alike on all ranks. Checkpoints leave out what is not in use, and such a file
  /// any strategy may go on from. Lists that lie together without names are kept if any block like them is in use.
  bool in_use = true;
  std::vector<Cut> cuts{};  ///< of a piece

  /// Nothing when the content is a list of numbers.
  std::span<float> floats() const;
  bool is_array(Scope of) const { return scope == of && std::holds_alternative<std::span<float>>(content); }
  bool is_list(Scope of) const { return scope == of && !std::holds_alternative<std::span<float>>(content); }
};

using StateBlocks = std::vector<StateBlock>;

/// The lists of numbers of this scope, one after the other, as a checkpoint holds them.
std::vector<double> numbers_of(const StateBlocks& blocks, StateBlock::Scope scope);
/// Writes back as many numbers as numbers_of() returns.
void set_numbers(const StateBlocks& blocks, StateBlock::Scope scope, std::span<const double> numbers);

}  // namespace isobar::exec
