// OwnSteps: what strategies have in common whose ranks each train a model of their own, in lockstep: every rank applies
// the mean gradient of its own samples; only the loss, and whether something is bad, is summed over ranks in each step.
#pragma once

#include "isobar/base/loops.hpp"
#include "isobar/parallel/exchange.hpp"
#include "isobar/parallel/own_model.hpp"
#include "isobar/parallel/updates.hpp"

namespace isobar::parallel {

class OwnSteps {
 public:
  /// As Exchange has it.
  OwnSteps(const ExchangeOptions& options, const Care& care, comm::Comm& world, std::size_t gradients, int copies = 0);

  /// Traits of such a strategy.
  static StrategyTraits traits(const ExchangeOptions& options);

  using Mix = std::function<void(StepExchange& now)>;
  /// A step of this rank alone; then `mix` may exchange what it wants, in the memory of the gradients; `before` may
  /// start sums in copies of it. Returns the loss over the samples of all ranks. A step that turns out bad is bad on
  /// all of them, before a weight has changed.
  double take(Replica& replica, std::span<const Feed> feeds, const optim::Step& step, const Mix& mix,
              const Mix& before = {});
  /// Returns when these are there.
  void wait(const Replica& replica, const BucketSums& sums);
  /// Makes the models of all ranks their mean, with such weights; they stay what they are if all of these are zero.
  void average(Replica& replica, double weight = 1);
  /// Leaves that mean in the replica until the next step.
  void judge_by_mean(Replica& replica, double weight = 1);
  /// Samples that this rank has trained on in the last step.
  double rows() const { return rows_; }

  Exchange& exchange() { return exchange_; }
  const Exchange& exchange() const { return exchange_; }
  OwnModel& own() { return own_; }

 private:
  Exchange exchange_;
  Updates updates_;
  OwnModel own_;
  double rows_ = 0;
};

/// Does something with every trained number: work(its place in the memory of all gradients, from, to) for a part of
/// them, by all threads.
template <class Work>
void for_all_trained(Replica& replica, Chore& chore, std::int64_t step, double bytes_each, const Work& work) {
  double bytes = 0;
  for (const ReplicaParameter& each : replica.parameters())
    if (each.trained) bytes += bytes_each * static_cast<double>(each.weight.size());
  replica.timed(chore, step, bytes, [&] {
    for (const ReplicaParameter& each : replica.parameters())
      if (each.trained)
        in_parts(each.weight.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) work(each.offset + i);
        });
  });
}

}  // namespace isobar::parallel
