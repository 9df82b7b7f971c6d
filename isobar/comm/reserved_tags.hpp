// The tags of collectives, all in one place: no two may share one.
#pragma once

#include <cstdint>

#include "isobar/comm/comm.hpp"

namespace isobar::comm {

enum ReservedTag : int {
  broadcast_tag = first_reserved_tag,
  gather_tag,
  scatter_tag,
  all_gather_tag,
  whole_numbers_tag,
  barrier_tag,
  schedule_tag,
  links_tag,
  first_sum_tag = first_reserved_tag + 16
};

/// The tag of the messages of a sum; as many may be under way.
inline constexpr std::int64_t sums_under_way = 2048;
inline int sum_tag(std::int64_t number) { return first_sum_tag + static_cast<int>(number % sums_under_way); }
static_assert(first_sum_tag + sums_under_way <= tag_limit);

}  // namespace isobar::comm
