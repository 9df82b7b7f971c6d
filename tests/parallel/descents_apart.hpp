// Descents of ranks that each have a weight of their own: as quadratic.hpp, but ranks begin at different weights and
// may differ between steps.
#pragma once

#include "tests/parallel/quadratic.hpp"

namespace isobar::parallel::trials {

struct DescentsApart {
  std::string strategy;
  std::vector<std::vector<float>> curvatures;  ///< of the samples of each rank
  std::vector<float> begin{};                  ///< the weight of each rank; empty: 1
  double rate = 0.25;
  int steps = 4;
  std::int64_t first_epoch = 0, steps_per_epoch = 1'000'000;
};

struct CourseApart {
  std::vector<std::vector<float>> weights{};  ///< of each rank after each step
  std::vector<float> judged{};                ///< what all judge by after each step
  float last = 0;                             ///< after what was still under way
  comm::ExchangeCost cost{};                  ///< of the first rank
};

inline CourseApart descend_apart(const DescentsApart& descent) {
  const int ranks = static_cast<int>(descent.curvatures.size());
  std::size_t samples = 0;
  for (const std::vector<float>& of_rank : descent.curvatures) samples += of_rank.size();
  CourseApart course;
  course.weights.resize(descent.curvatures.size());
  std::vector<CourseApart> seen(descent.curvatures.size());
  comm::run_ranks(ranks, [&](comm::Comm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const auto strategy = make(strategies(), Spec(descent.strategy), "strategy");
    QuadraticReplica replica(strategy->open(comm, 16, {}));
    strategy->begin(replica, 0);
    if (!descent.begin.empty()) replica.weight() = descent.begin[rank];
    const std::vector<float>& own = descent.curvatures[rank];
    for (int t = 1; t <= descent.steps; ++t) {
      const Feed feed{{{"h", own}},
                      {.step = t,
                       .epoch = descent.first_epoch + (t - 1) / descent.steps_per_epoch,
                       .rows = std::ssize(own),
                       .total = static_cast<double>(samples)}};
      strategy->step(replica, {&feed, 1}, {t, descent.rate});
      course.weights[rank].push_back(replica.weight());
      strategy->settle(replica, Settle::judged);
      seen[rank].judged.push_back(replica.weight());
    }
    seen[rank].cost = strategy->cost();
    strategy->settle(replica, Settle::updates);
    seen[rank].last = replica.weight();
  });
  for (const CourseApart& each : seen) {
    EXPECT_EQ(each.judged, seen[0].judged);
    EXPECT_EQ(each.last, seen[0].last);
  }
  course.judged = seen[0].judged, course.last = seen[0].last, course.cost = seen[0].cost;
  return course;
}

}  // namespace isobar::parallel::trials
