// The group numbers that this rank uses, and their epochs. A number is free again when the last group that has it is
// gone; a new group takes a number that is free on all its members, so that groups of disjoint ranks may share one, and
// of which no message is left between them (balance.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "isobar/comm_mpi/balance.hpp"

namespace isobar::comm_mpi {

class GroupNumbers {
 public:
  /// `ranks` is the size of the world.
  GroupNumbers(int numbers, std::uint32_t epochs, int ranks) : groups_(numbers), epochs_(epochs), ranks_(ranks) {}

  /// The numbers that are taken for groups of an epoch, one bit each.
  std::vector<std::uint64_t> taken(std::uint32_t epoch) const;
  /// Takes a number for an epoch; false when it is not free.
  bool take(int number, std::uint32_t epoch);
  /// Adds a group with this number in another epoch; an error if messages cannot tell that epoch from one in use.
  void add(int number, std::uint32_t epoch);
  void drop(int number, std::uint32_t epoch);
  /// Never assigns this number again in this epoch, because a message with it may still be under way.
  void spoil(int number, std::uint32_t epoch);
  /// Of all messages with this number in epochs that they cannot tell from this one, since the beginning.
  std::shared_ptr<Balance> balance(int number, std::uint32_t epoch);

 private:
  struct Use {
    std::map<std::uint32_t, int> epochs{};                         // how many groups exist in each
    std::set<std::uint32_t> spoilt{};                              // epochs, as far as messages tell them apart
    std::map<std::uint32_t, std::shared_ptr<Balance>> balances{};  // the same
  };
  bool is_free(const Use& use, std::uint32_t epoch) const {
    return use.epochs.empty() && !use.spoilt.contains(epoch % epochs_);
  }

  mutable std::mutex mutex_;
  std::vector<Use> groups_;
  std::uint32_t epochs_;
  int ranks_;
};

/// The first number that is free in all lists of taken numbers; -1 if there is none.
int first_free(const std::vector<std::vector<std::uint64_t>>& taken, int numbers);

}  // namespace isobar::comm_mpi
