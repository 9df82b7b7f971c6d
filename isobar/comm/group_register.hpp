// GroupRegister: numbers for groups whose ranks live in one process, so that making a group needs no message: the n-th
// request for a list gets the same number on all members.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "isobar/comm/group.hpp"

namespace isobar::comm {

class GroupRegister {
 public:
  /// The number, from 1, of a group within another; every member calls once for every such group, in the same order.
  std::uint64_t number(std::uint64_t parent, const Group& group) {
    Made& made = made_[{parent, group.epoch, group.members}];
    const std::size_t times = made.asked[group.rank]++;
    if (times == made.numbers.size()) made.numbers.push_back(++last_);
    return made.numbers[times];
  }

 private:
  struct Made {
    std::vector<std::uint64_t> numbers{};
    std::map<int, std::size_t> asked{};  // how often, by rank
  };
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::vector<int>>, Made> made_;
  std::uint64_t last_ = 0;
};

}  // namespace isobar::comm
