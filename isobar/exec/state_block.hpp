// StateBlock: a piece of what a run keeps from step to step besides weights and optimizer slots: typed memory with a
// name and a scope. Its owner goes on using the memory; whoever keeps the state of the run reads and writes it between
// steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace isobar::exec {

struct StateBlock {
  /// Equal on all ranks between steps, or of every rank for itself.
  enum class Scope { once, each_rank };
  /// What becomes of that of every rank when a run goes on with more or fewer ranks: all begin with zeros; or nothing
  /// is lost, since the ranks that go on take the sum of those that do not, and new ones begin with zeros.
  enum class Merge { zero, sum };

  std::string name;
  /// Floats are as many as all gradients, and laid out like them. The others are a list of numbers.
  std::variant<std::span<float>, std::span<double>, std::span<std::int64_t>> content;
  Scope scope = Scope::once;
  Merge merge = Merge::zero;

  /// Nothing when the content is a list of numbers.
  std::span<float> floats() const;
  bool is_shared_array() const { return scope == Scope::once && !floats().empty(); }
  bool is_own_array() const { return scope == Scope::each_rank && !floats().empty(); }
};

using StateBlocks = std::vector<StateBlock>;

/// The lists of numbers of this scope, one after the other, as a checkpoint holds them.
std::vector<double> numbers_of(const StateBlocks& blocks, StateBlock::Scope scope);
/// Writes back as many numbers as numbers_of() returns.
void set_numbers(const StateBlocks& blocks, StateBlock::Scope scope, std::span<const double> numbers);

}  // namespace isobar::exec
