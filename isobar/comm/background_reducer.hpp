// BackgroundReducer: sums that travel while the caller computes, each by one of several routes; the rank's
// MessageEngine drives them.
#pragma once

#include <functional>
#include <vector>

#include "isobar/comm/message_engine.hpp"
#include "isobar/comm/node_group.hpp"
#include "isobar/comm/reducers.hpp"

namespace isobar::comm {

class BackgroundReducer final : public Reducer {
 public:
  /// All ranks must call. With `by_nodes` routes may be those within nodes, whose ranks then share the memory.
  BackgroundReducer(Comm& comm, GradientMemory& memory, const ReducerOptions& options, bool by_nodes);

  std::span<float> memory() override { return place_->memory; }
  Sum start(SumRequest sum) override;
  void wait(Sum sum) override { engine_.wait(sum); }
  std::string describe() const override { return described_; }
  ExchangeCost cost() const override;

  /// What routes are constructed with.
  const Place& place() const { return *place_; }
  /// Sets the routes that sums may take; call it before the first sum.
  void use(std::vector<std::unique_ptr<Route>> routes) { routes_ = std::move(routes); }
  /// Sets which route takes a sum, by its count of numbers; only while no sum is under way. Costs count from here on.
  void choose(std::function<std::size_t(std::size_t)> choice, std::string described);

 private:
  Traffic traffic() const;

  std::shared_ptr<const codec::Codec> codec_;
  std::unique_ptr<NodeGroup> node_;
  std::unique_ptr<Comm> own_;  // the same ranks, with separate tags
  std::unique_ptr<Place> place_;
  std::vector<std::unique_ptr<Route>> routes_;
  std::function<std::size_t(std::size_t)> choose_;
  std::string described_;
  Sum started_ = 0;
  Traffic traffic_before_;
  MessageEngine::Client engine_;  // last, so that flights end before what they use
};

}  // namespace isobar::comm
