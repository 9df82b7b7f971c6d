#include "isobar/comm/node_group.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "isobar/comm/flight.hpp"
#include "isobar/comm/sum_tree.hpp"

namespace isobar::comm {

// At the head of every rank's part; only that rank writes it, and every number in it only grows: a rank that finds a
// later sum in place of the one it looks for knows that this one is over.
struct alignas(64) NodeGroup::Flags {
  std::int64_t started;
  alignas(64) std::array<std::int64_t, sums_under_way> spread;
};

namespace {

std::int64_t read(std::int64_t& flag) { return std::atomic_ref(flag).load(std::memory_order_acquire); }
void publish(std::int64_t& flag, std::int64_t value) { std::atomic_ref(flag).store(value, std::memory_order_release); }
std::size_t place_of(std::int64_t number) { return static_cast<std::size_t>(number % sums_under_way); }

}  // namespace

NodeGroup::NodeGroup(Comm& comm, const GradientMemory& memory)
    : ranks_(ranks_of_node(comm.group())), memory_(memory.on_node()) {
  expects(memory_.size() == ranks_.size(), "memory that the ranks of the node share");
  const auto place = std::ranges::find(ranks_, comm.rank()) - ranks_.begin();
  std::vector<int> sizes(comm.nodes().size()), same_place;  // of nodes: there are at most as many as ranks
  for (int rank = 0; rank < comm.size(); ++rank)
    if (sizes[static_cast<std::size_t>(comm.nodes()[static_cast<std::size_t>(rank)])]++ == place)
      same_place.push_back(rank);
  std::erase(sizes, 0);
  lanes_ = std::ranges::min(sizes);
  local_ = comm.among(ranks_);
  if (owns()) between_ = comm.among(same_place);
  shared_ = local_->share(sizeof(Flags));
  for (int rank = 0; rank < local_->size(); ++rank)
    flags_.push_back(reinterpret_cast<Flags*>(shared_->part(rank).data()));
}

Range NodeGroup::slice(Range range) const { return slice_of(range, lanes_, local_->rank()); }

void NodeGroup::started(std::int64_t count) { publish(flags_[self()]->started, count); }

bool NodeGroup::all_started(std::int64_t number) const {
  return std::ranges::all_of(flags_, [&](Flags* flags) { return read(flags->started) > number; });
}

void NodeGroup::gather(Range slice) {
  std::vector<const float*> parts;
  for (const float* memory : memory_) parts.push_back(memory + slice.begin);
  float* result = memory_[self()] + slice.begin;
  sum_tree(parts, {&result, 1}, slice.count);
  count(slice.count);
}

void NodeGroup::spread(Range slice, std::int64_t number) {
  for (std::size_t rank = 0; rank < memory_.size(); ++rank)
    if (rank != self() && slice.count > 0)
      std::memcpy(memory_[rank] + slice.begin, memory_[self()] + slice.begin, slice.count * sizeof(float));
  publish(flags_[self()]->spread[place_of(number)], number + 1);
  count(slice.count);
}

bool NodeGroup::all_spread(std::int64_t number) const {
  return std::all_of(flags_.begin(), flags_.begin() + lanes_,
                     [&](Flags* flags) { return read(flags->spread[place_of(number)]) > number; });
}

std::vector<int> NodeGroup::missing(std::int64_t number) const {
  std::vector<int> list;
  for (std::size_t i = 0; i < flags_.size(); ++i)
    if (read(flags_[i]->started) <= number) list.push_back(ranks_[i]);
  return list;
}

void NodeGroup::count(std::size_t floats) {
  const auto peers = static_cast<std::int64_t>(memory_.size()) - 1;
  messages_ += peers;
  bytes_ += peers * static_cast<std::int64_t>(floats * sizeof(float));
}

}  // namespace isobar::comm
