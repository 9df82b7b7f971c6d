// SlowedReplica: a rank that is several times slower than it could be, for experiments with ranks that lag behind.
// After each stretch of computing it keeps its core busy for as long again as the factor says, as a slower core would
// be: the other ranks do not gain the time it loses. Gradients become final later by the same factor, one by one.
#pragma once

#include <map>
#include <memory>
#include <string_view>

#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {

/// How many times slower some ranks are, by rank.
using SlowRanks = std::map<int, double>;

/// Reads "1:3", or "1:3, 2:1.5" for several ranks; anything else is a UsageError. Empty text: none.
SlowRanks read_slow_ranks(std::string_view text);

/// How many times slower `rank` is in a run of ranks with these roles, by the key parallel.slow of its recipe; 1: it is
/// not. Ranks that do not exist or do not train are a UsageError.
double slowness(const Spec& recipe, const Roles& roles, int rank);

class SlowedReplica final : public Replica {
 public:
  /// `times` is at least 1.
  SlowedReplica(std::unique_ptr<Replica> inner, double times)
      : Replica({inner->parameters().begin(), inner->parameters().end()}, inner->gradients(), inner->trace(),
                inner->circles()),
        inner_(std::move(inner)),
        times_(times) {}

  double forward(const Feed& feed) override;
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override;
  void update(int p, std::span<const float> gradient, const optim::Step& step) override;
  bool pretends(double bytes) override { return inner_->pretends(bytes); }

 private:
  /// What began then has just ended: keeps the core busy until it has taken `times_` as long.
  void prolong(double begin) const;

  std::unique_ptr<Replica> inner_;
  double times_;
};

}  // namespace isobar::parallel
