#include "isobar/exec/state_block.hpp"

#include "isobar/base/error.hpp"

namespace isobar::exec {
namespace {

// Calls visit(number) for every number of the lists, where it lies.
template <class Visit>
void each_number(const StateBlocks& blocks, StateBlock::Scope scope, Visit visit) {
  for (const StateBlock& block : blocks) {
    if (block.scope != scope) continue;
    if (const auto* reals = std::get_if<std::span<double>>(&block.content))
      for (double& number : *reals) visit(number);
    if (const auto* integers = std::get_if<std::span<std::int64_t>>(&block.content))
      for (std::int64_t& number : *integers) visit(number);
  }
}

}  // namespace

std::span<float> StateBlock::floats() const {
  const auto* const held = std::get_if<std::span<float>>(&content);
  return held ? *held : std::span<float>();
}

std::vector<double> numbers_of(const StateBlocks& blocks, StateBlock::Scope scope) {
  std::vector<double> numbers;
  each_number(blocks, scope, [&](const auto& number) { numbers.push_back(static_cast<double>(number)); });
  return numbers;
}

void set_numbers(const StateBlocks& blocks, StateBlock::Scope scope, std::span<const double> numbers) {
  std::size_t next = 0;
  each_number(blocks, scope, [&]<class T>(T& number) {
    expects(next < numbers.size(), "a number for every place");
    number = static_cast<T>(numbers[next++]);
  });
  expects(next == numbers.size(), "a place for every number");
}

}  // namespace isobar::exec
