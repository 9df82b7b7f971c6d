#include "isobar/comm/gradient_memory.hpp"

#include <algorithm>

#include "isobar/comm/choice.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm/reducers.hpp"

namespace isobar::comm {
namespace {

void expect_equal_floats(Comm& comm, std::size_t floats) {
  const std::vector<std::int64_t> asked = all_gather_number(comm, static_cast<std::int64_t>(floats));
  for (std::size_t rank = 0; rank < asked.size(); ++rank)
    if (asked[rank] != asked[0])
      fail("sums over all ranks: rank {} has {} numbers, rank {} has {}", comm.members()[0], asked[0],
           comm.members()[rank], asked[rank]);
}

}  // namespace

GradientMemory::GradientMemory(std::size_t floats) {
  std::size_t space = floats * sizeof(float) + 64;
  const std::shared_ptr<std::byte[]> bytes(new std::byte[space]());
  void* first = bytes.get();
  mine_ = {static_cast<float*>(std::align(64, floats * sizeof(float), first, space)), floats};
  keeps_ = bytes;
}

GradientMemory::GradientMemory(Comm& node, std::size_t floats) {
  const std::shared_ptr<SharedMemory> shared = node.share(floats * sizeof(float));
  for (int rank = 0; rank < node.size(); ++rank)
    on_node_.push_back(reinterpret_cast<float*>(shared->part(rank).data()));
  mine_ = {on_node_[static_cast<std::size_t>(node.rank())], floats};
  keeps_ = shared;
}

bool shares_memory(const Group& group, const ReducerOptions& options) {
  if (group.size == 1) return false;
  ReducerOptions added = options;  // what cannot be added on its way is gathered, and exact sums remain
  if (options.codec->carriage() == codec::Carriage::gathered) added.codec = codec::plain();
  const int nodes = nodes_of(group);
  return adds_in_shared_memory(added, nodes) ||
         between_nodes(candidates(options.algorithm, nodes > 1 && nodes < group.size)[0]).has_value();
}

std::unique_ptr<GradientMemory> gradient_memory(Comm& comm, std::size_t floats, const ReducerOptions& options) {
  if (auto own = comm.own_memory(floats)) return own;
  expect_equal_floats(comm, floats);
  if (!shares_memory(comm.group(), options)) return std::make_unique<GradientMemory>(floats);
  return std::make_unique<GradientMemory>(*comm.among(ranks_of_node(comm.group())), floats);
}

std::unique_ptr<GradientMemory> message_memory(Comm& comm, std::size_t floats) {
  if (auto own = comm.own_memory(floats)) return own;
  return std::make_unique<GradientMemory>(floats);
}

std::unique_ptr<GradientMemory> Comm::own_memory(std::size_t) { return nullptr; }

}  // namespace isobar::comm
