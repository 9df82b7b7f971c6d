#include "isobar/comm_mpi/group_numbers.hpp"

#include "isobar/base/error.hpp"

namespace isobar::comm_mpi {

std::vector<std::uint64_t> GroupNumbers::taken(std::uint32_t epoch) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> bits((groups_.size() + 63) / 64);
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (!is_free(groups_[i], epoch)) bits[i / 64] |= std::uint64_t{1} << (i % 64);
  return bits;
}

bool GroupNumbers::take(int number, std::uint32_t epoch) {
  const std::lock_guard lock(mutex_);
  Use& use = groups_.at(number);
  if (!is_free(use, epoch)) return false;
  use.epochs[epoch] = 1;
  return true;
}

void GroupNumbers::add(int number, std::uint32_t epoch) {
  const std::lock_guard lock(mutex_);
  Use& use = groups_.at(number);
  for (const auto& [other, _] : use.epochs)
    if (other != epoch && other % epochs_ == epoch % epochs_)
      fail("a group in epoch {} while one in epoch {} still exists: messages tell only {} epochs apart", epoch, other,
           epochs_);
  ++use.epochs[epoch];
}

void GroupNumbers::drop(int number, std::uint32_t epoch) {
  const std::lock_guard lock(mutex_);
  Use& use = groups_.at(number);
  const auto at = use.epochs.find(epoch);
  expects(at != use.epochs.end(), "a group that exists");
  if (--at->second == 0) use.epochs.erase(at);
}

void GroupNumbers::spoil(int number, std::uint32_t epoch) {
  const std::lock_guard lock(mutex_);
  groups_.at(number).spoilt.insert(epoch % epochs_);
}

std::shared_ptr<Balance> GroupNumbers::balance(int number, std::uint32_t epoch) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Balance>& known = groups_.at(number).balances[epoch % epochs_];
  if (!known) known = std::make_shared<Balance>(ranks_);
  return known;
}

int first_free(const std::vector<std::vector<std::uint64_t>>& taken, int numbers) {
  for (int number = 0; number < numbers; ++number) {
    const int word = number / 64;
    bool free = true;
    for (const auto& bits : taken) free = free && !(bits.at(word) >> (number % 64) & 1);
    if (free) return number;
  }
  return -1;
}

}  // namespace isobar::comm_mpi
