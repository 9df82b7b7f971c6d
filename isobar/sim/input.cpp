#include "isobar/sim/input.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::sim {

double read_seconds(const Platform& platform, Input input, int ranks, int ranks_per_node, double bytes_per_rank) {
  if (input == Input::none) return 0;
  const int nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  const double bytes = bytes_per_rank * std::min(ranks, ranks_per_node);
  if (input == Input::node_local) {
    if (platform.node.storage_bytes_per_second <= 0)
      fail_usage("input: nodes of '{}' have no storage of their own (node.storage_gb_s)", platform.name);
    return bytes / platform.node.storage_bytes_per_second;
  }
  const bool burst = input == Input::burst_buffer;
  const StorageModel& storage = burst ? platform.burst_buffer : platform.file_system;
  if (storage.bytes_per_second <= 0)
    fail_usage("input: platform '{}' has no {}", platform.name, burst ? "[burst_buffer]" : "[file_system]");
  const double share = storage.bytes_per_second / nodes;
  return bytes / (storage.client_bytes_per_second > 0 ? std::min(share, storage.client_bytes_per_second) : share);
}

double ReadAhead::ready(double now) {
  if (seconds_ == 0) return now;
  // The batch of this step began to be read when there was room for it.
  const double room = taken_.size() < batches_ahead ? 0 : taken_.front();
  read_ = std::max(read_, room) + seconds_;
  if (taken_.size() == batches_ahead) taken_.pop_front();
  const double begin = std::max(now, read_);
  taken_.push_back(begin);
  return begin;
}

}  // namespace isobar::sim
