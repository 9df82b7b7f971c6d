// Balance: how many messages with one group number a rank has sent to each rank of the world, and received from it. A
// number whose messages have all been received can be given to another group: no message of the old one can turn up in
// the new one.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace isobar::comm_mpi {

class Balance {
 public:
  explicit Balance(int ranks) : sent_(ranks), received_(ranks) {}

  void sent(int to) { sent_[to].fetch_add(1, std::memory_order_relaxed); }
  void received(int from) { received_[from].fetch_add(1, std::memory_order_relaxed); }

  /// A number of this rank that adds up to 0 over all members if they have received what they have sent each other; if
  /// not, hardly ever (once in 2^64 times).
  std::uint64_t print(int self, std::span<const int> members) const;

 private:
  std::vector<std::atomic<std::uint64_t>> sent_, received_;  // by rank of the world
};

}  // namespace isobar::comm_mpi
