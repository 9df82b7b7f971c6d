#include "isobar/comm_mpi/balance.hpp"

namespace isobar::comm_mpi {
namespace {

// Any odd number, but another for every pair of ranks.
std::uint64_t weight(int from, int to) {
  std::uint64_t x = (static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to)) + 0x9e37'79b9'7f4a'7c15u;
  x = (x ^ x >> 30) * 0xbf58'476d'1ce4'e5b9u;
  x = (x ^ x >> 27) * 0x94d0'49bb'1331'11ebu;
  return (x ^ x >> 31) | 1;
}

}  // namespace

std::uint64_t Balance::print(int self, std::span<const int> members) const {
  std::uint64_t sum = 0;
  for (const int other : members)
    sum += weight(self, other) * sent_[other].load() - weight(other, self) * received_[other].load();
  return sum;
}

}  // namespace isobar::comm_mpi
