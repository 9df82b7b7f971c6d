// The smallest model: one weight w, which begins at 1, and the loss h w^2 / 2 with a curvature h of each sample. Plain
// descent by a rate r then follows w <- w - r h w, so that what a strategy makes of it can be computed by hand.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/parallel/strategy.hpp"

#include "tests/parallel/plain_replica.hpp"

namespace isobar::parallel::trials {

class QuadraticReplica final : private PlainMemory, public Replica {
 public:
  explicit QuadraticReplica(std::span<float> given)
      : PlainMemory({{1}}, given), Replica(list, PlainMemory::gradients, nullptr) {
    weight() = 1;
  }

  float& weight() { return parameters()[0].weight[0]; }

  double forward(const Feed& feed) override { return curvature(feed) * weight() * weight() / 2; }
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override {
    parameters()[0].gradient[0] = static_cast<float>(curvature(feed) * weight());
    if (ready) ready(0);
  }
  void update(int, std::span<const float> gradient, const optim::Step& step) override {
    weight() -= static_cast<float>(step.learning_rate * step.gradient_scale * gradient[0]);
  }

 private:
  // This feed's part of the mean over the samples of all ranks.
  static double curvature(const Feed& feed) {
    double sum = 0;
    for (const float h : feed.inputs.at(0).second) sum += h;
    return sum / feed.run.total;
  }
};

struct Descent {
  std::string strategy;
  std::vector<std::vector<float>> curvatures;  ///< of the samples of each rank
  double rate = 0.25;
  int steps = 4;
};

/// The weight after each step, and last after what was still under way; all ranks must have the same.
inline std::vector<float> descend(const Descent& descent) {
  const int ranks = static_cast<int>(descent.curvatures.size());
  std::size_t samples = 0;
  for (const std::vector<float>& of_rank : descent.curvatures) samples += of_rank.size();
  std::vector<std::vector<float>> weights(descent.curvatures.size());
  comm::run_ranks(ranks, [&](comm::Comm& comm) {
    const std::vector<float>& own = descent.curvatures[static_cast<std::size_t>(comm.rank())];
    std::vector<float>& seen = weights[static_cast<std::size_t>(comm.rank())];
    const auto strategy = make(strategies(), Spec(descent.strategy), "strategy");
    QuadraticReplica replica(strategy->open(comm, 16, {}));
    const Feed feed{{{"h", own}}, {.rows = std::ssize(own), .total = static_cast<double>(samples)}};
    for (int t = 1; t <= descent.steps; ++t) {
      strategy->step(replica, {&feed, 1}, {t, descent.rate});
      seen.push_back(replica.weight());
    }
    strategy->settle(replica, Settle::updates);
    seen.push_back(replica.weight());
  });
  for (const std::vector<float>& seen : weights) EXPECT_EQ(seen, weights[0]);
  return weights[0];
}

}  // namespace isobar::parallel::trials
