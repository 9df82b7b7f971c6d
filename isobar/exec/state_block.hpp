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

  std::string name;
  /// Floats are as many as all gradients, and laid out like them. The others are a list of numbers.
  std::variant<std::span<float>, std::span<double>, std::span<std::int64_t>> content;
  Scope scope = Scope::once;

  /// Nothing when the content is a list of numbers.
  std::span<float> floats() const;
};

using StateBlocks = std::vector<StateBlock>;

/// The lists of numbers of this scope, one after the other, as a checkpoint holds them.
std::vector<double> numbers_of(const StateBlocks& blocks, StateBlock::Scope scope);
/// Writes back as many numbers as numbers_of() returns.
void set_numbers(const StateBlocks& blocks, StateBlock::Scope scope, std::span<const double> numbers);

}  // namespace isobar::exec
