#include "isobar/checkpoint/member_snapshot.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::checkpoint {
namespace {

constexpr std::string_view weights = "weights/";

const Snapshot::OwnArray* find_block(const Snapshot& snapshot, std::string_view block) {
  const auto found = std::ranges::find(snapshot.own_arrays, block, &Snapshot::OwnArray::name);
  return found == snapshot.own_arrays.end() ? nullptr : &*found;
}

}  // namespace

int members_of(const Snapshot& snapshot, std::string_view block) {
  return find_block(snapshot, block) ? snapshot.ranks : 0;
}

// The numbers of a rank follow each other as the weights of the first rank do.
Snapshot member_snapshot(const Snapshot& snapshot, std::string_view block, int member) {
  const Snapshot::OwnArray* const all = find_block(snapshot, block);
  expects(all && member >= 0 && member < snapshot.ranks, "a rank whose weights the snapshot has");
  Snapshot one;
  one.origin = snapshot.origin, one.position = snapshot.position;
  std::size_t count = 0;
  for (const Snapshot::Part& part : snapshot.parts) {
    if (!part.name.starts_with(weights)) continue;
    one.parts.push_back({part.name, part.shape, count, part.count});
    count += part.count;
  }
  if (all->numbers.size() != count * static_cast<std::size_t>(snapshot.ranks))
    fail("{}: '{}' has {} numbers, {} ranks with {} weights each need {}", snapshot.origin, block, all->numbers.size(),
         snapshot.ranks, count, count * static_cast<std::size_t>(snapshot.ranks));
  const auto first = all->numbers.begin() + static_cast<std::ptrdiff_t>(count) * member;
  one.numbers.assign(first, first + static_cast<std::ptrdiff_t>(count));
  return one;
}

}  // namespace isobar::checkpoint
