// The tags of collectives, all in one place: no two collectives may share a tag.
#pragma once

#include <cstdint>

#include "isobar/comm/comm.hpp"

namespace isobar::comm {

enum ReservedTag : int {
  broadcast_tag = first_reserved_tag,
  gather_tag,
  scatter_tag,
  all_gather_tag,
  few_numbers_tag,
  barrier_tag,
  schedule_tag,
  links_tag,
  first_sum_tag = first_reserved_tag + 16
};

/// How many sums may be under way at once, each with its own tag.
inline constexpr std::int64_t sums_under_way = 2048;
inline int sum_tag(std::int64_t number) { return first_sum_tag + static_cast<int>(number % sums_under_way); }
static_assert(first_sum_tag + sums_under_way <= tag_limit);

}  // namespace isobar::comm
