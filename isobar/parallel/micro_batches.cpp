#include "isobar/parallel/micro_batches.hpp"

#include <algorithm>
#include <bit>

#include "isobar/base/error.hpp"

namespace isobar::parallel {
namespace {

void clear_gradients(const Replica& replica) {
  for (const ReplicaParameter& parameter : replica.parameters())
    if (parameter.trained) std::ranges::fill(parameter.gradient, 0.0f);
}

}  // namespace

std::int64_t rows_of(const Feed& feed) {
  return feed.run.rows >= 0 ? feed.run.rows : std::max<std::int64_t>(1, std::ssize(feed.run.samples));
}

void MicroBatches::run(Replica& replica, std::span<const Feed> feeds, const Listener& listener) {
  if (!sums_) sums_ = std::make_unique<PartialSums>(order_, replica.gradients().size() + 1);
  loss_ = 0;
  if (balanced()) {
    if (!std::has_single_bit(feeds.size()))
      fail_usage("deterministic = true needs 1, 2, 4, 8, ... micro-batches on every rank, here are {}", feeds.size());
    if (std::ranges::find(replica.circles(), "team") != replica.circles().end())
      fail_usage("deterministic = true takes statistics by micro-batch, they cannot be those of all ranks together");
    start_.keep(replica);
    for (std::size_t i = 0; i < feeds.size(); ++i) run_one(replica, feeds[i], i, i + 1 == feeds.size(), listener);
    return;
  }
  std::vector<const Feed*> filled;
  for (const Feed& feed : feeds)
    if (replica.computes(feed)) filled.push_back(&feed);
  if (filled.empty()) {
    clear_gradients(replica);
    if (listener.forwarded) listener.forwarded();
  }
  for (std::size_t i = 0; i < filled.size(); ++i) run_one(replica, *filled[i], i, i + 1 == filled.size(), listener);
}

void MicroBatches::run_one(Replica& replica, const Feed& feed, std::size_t item, bool last, const Listener& listener) {
  const bool empty = !replica.computes(feed);
  const double loss = empty ? 0 : replica.forward(feed);
  add_forward(replica, feed, static_cast<float>(loss), item, last);
  if (last && listener.forwarded) listener.forwarded();
  // Their sum is no work of the network: no FLOPs of it are counted, only what it moves.
  const auto add = [&](int p) {
    const ReplicaParameter& parameter = replica[p];
    replica.timed(adding_, feed.run.step, 3.0 * static_cast<double>(parameter.gradient.size_bytes()),
                  [&] { sums_->add(item, last, parameter.gradient, parameter.offset); });
  };
  std::vector<bool> told(replica.parameters().size());
  if (empty) {
    clear_gradients(replica);
  } else if (!last) {
    replica.backward(feed, {});
  } else if (item == 0) {
    return replica.backward(feed, listener.ready);
  } else {
    replica.backward(feed, [&](int p) {
      add(p);
      told[static_cast<std::size_t>(p)] = true;
      if (listener.ready) listener.ready(p);
    });
  }
  for (int p = 0; p < replica.count(); ++p)
    if (replica[p].trained && !told[static_cast<std::size_t>(p)]) add(p);
}

// The loss and, balanced, the running statistics, weighted by samples; then the statistics start again.
void MicroBatches::add_forward(Replica& replica, const Feed& feed, float loss, std::size_t item, bool last) {
  sums_->add(item, last, {&loss, 1}, replica.gradients().size());
  loss_ = loss;
  if (!balanced()) return;
  const auto weight = replica.computes(feed) ? static_cast<float>(static_cast<double>(rows_of(feed)) /
                                                                  (feed.run.total < 0 ? rows_of(feed) : feed.run.total))
                                             : 0.0f;
  for (const ReplicaParameter& parameter : replica.parameters()) {
    if (parameter.trained) continue;
    const std::span<float> value = parameter.weight, part = parameter.gradient;
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = weight * value[i];
    sums_->add(item, last, part, parameter.offset);
  }
  start_.put_back(replica);
}

void take_statistics(const Replica& replica) {
  for (const ReplicaParameter& parameter : replica.parameters())
    if (!parameter.trained) std::ranges::copy(parameter.gradient, parameter.weight.begin());
}

}  // namespace isobar::parallel
