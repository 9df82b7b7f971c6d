// How group, epoch and tag of a message share one MPI tag. The library says how many bits there are: 28 with MPICH over
// UCX, 31 with Open MPI, about 20 elsewhere, where groups are also told apart by communicators. Epochs are cut to their
// low bits: two epochs in use at the same time with one group number must differ in those bits, which GroupNumbers
// checks.
#pragma once

#include <bit>
#include <cstdint>

#include "isobar/base/error.hpp"
#include "isobar/comm/comm.hpp"

namespace isobar::comm_mpi {

class TagLayout {
 public:
  explicit TagLayout(std::int64_t largest_tag) {
    const int bits = std::bit_width(static_cast<std::uint64_t>(largest_tag) + 1) - 1;
    const int left = bits - tag_bits;
    if (left < 5)
      fail("the MPI library allows tags up to {} only; at least {} is needed", largest_tag, (1 << (tag_bits + 5)) - 1);
    epoch_bits_ = left * 2 / 5;
    group_bits_ = left - epoch_bits_ < most_group_bits ? left - epoch_bits_ : most_group_bits;
  }

  static constexpr int groups() { return 1 << most_group_bits; }
  /// How many communicators it takes to tell all groups apart, and which of them a group uses.
  int communicators() const { return groups() >> group_bits_; }
  int communicator(int group) const { return group >> group_bits_; }
  std::uint32_t epochs() const { return 1u << epoch_bits_; }

  int tag(int group, std::uint32_t epoch, int tag) const {
    expects(tag >= 0 && tag < comm::tag_limit, "a tag below the limit");
    const int within = group & ((1 << group_bits_) - 1);
    return static_cast<int>(epoch % epochs()) << (group_bits_ + tag_bits) | within << tag_bits | tag;
  }

 private:
  static constexpr int tag_bits = std::bit_width(static_cast<unsigned>(comm::tag_limit)) - 1, most_group_bits = 9;
  int epoch_bits_, group_bits_;
};

}  // namespace isobar::comm_mpi
