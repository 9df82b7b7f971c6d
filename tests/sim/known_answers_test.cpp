// Sums in simulation are those of real runs: strategies on models of a few weights come to what can be computed by
// hand. The numbers are kept, sent and added; only the clock is simulated.
#include <gtest/gtest.h>

#include "isobar/sim/flows.hpp"
#include "isobar/sim/in_child.hpp"

#include "tests/parallel/quadratic.hpp"
#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

using parallel::trials::Descent;
using Weights = std::vector<float>;

// What `work` writes on all ranks, in the order of the ranks.
std::string on_ranks(int ranks, const std::function<std::string(const FlowRank&)>& work) {
  return in_child([&] {
    const Platform platform = tests::made_platform(ranks);
    const RankNodes placement{ranks, 1};
    const Topology topology(platform, ranks);
    SumCosts costs(topology, platform, placement);
    std::vector<std::string> texts(static_cast<std::size_t>(ranks));
    run_flows(topology, platform, placement, Noise({}, 1), costs, {.real_numbers = true},
              [&](const FlowRank& rank) { texts[static_cast<std::size_t>(rank.rank)] = work(rank); });
    std::string all;
    for (const std::string& text : texts) all += text;
    return all;
  });
}

std::string text_of(const Weights& weights) {
  std::string text;
  for (const float weight : weights) text += fmt::format("{} ", weight);
  return text + "\n";
}

// As parallel::trials::descend() does it over threads.
std::string descend(const Descent& descent) {
  return on_ranks(static_cast<int>(descent.curvatures.size()), [&](const FlowRank& rank) {
    double samples = 0;
    for (const std::vector<float>& of_rank : descent.curvatures) samples += static_cast<double>(of_rank.size());
    const std::vector<float>& own = descent.curvatures[static_cast<std::size_t>(rank.rank)];
    const auto strategy = make(parallel::strategies(), Spec(descent.strategy), "strategy");
    parallel::trials::QuadraticReplica replica(strategy->open(rank.comm, 16, {}));
    const parallel::Feed feed{{{"h", own}}, {.rows = std::ssize(own), .total = samples}};
    Weights seen;
    for (int t = 1; t <= descent.steps; ++t) {
      strategy->step(replica, {&feed, 1}, {t, descent.rate});
      seen.push_back(replica.weight());
    }
    strategy->settle(replica, parallel::Settle::updates);
    seen.push_back(replica.weight());
    return text_of(seen);
  });
}

std::string on_all(std::size_t ranks, const Weights& weights) {
  std::string text;
  for (std::size_t rank = 0; rank < ranks; ++rank) text += text_of(weights);
  return text;
}

TEST(SimulatedAnswer, Sync) {
  const Weights halved{0.5f, 0.25f, 0.125f, 0.0625f, 0.0625f};
  for (const char* strategy :
       {"sync", "sync(algorithm=ring)", "sync(algorithm=tree)", "sync(algorithm=halving_doubling)",
        "sync(codec=bf16, algorithm=ring)", "sync(algorithm=reproducible)"}) {
    EXPECT_EQ(descend({strategy, {{1}, {3}}}), on_all(2, halved)) << strategy;
    EXPECT_EQ(descend({strategy, {{1}, {3}, {2}, {2}}}), on_all(4, halved)) << strategy;
  }
  EXPECT_EQ(descend({"sync", {{1, 1, 4}, {}, {2}}}), on_all(3, halved)) << "the mean over samples, not over ranks";
  EXPECT_EQ(descend({"sync", {{2}}, 0.5, 2}), on_all(1, {0, 0, 0}));
}

TEST(SimulatedAnswer, Lagged) {
  EXPECT_EQ(descend({"lagged", {{1}, {3}}}), on_all(2, {1, 0.5f, 0, -0.25f, -0.25f}));
  EXPECT_EQ(descend({"lagged(k=2)", {{1}, {3}}}), on_all(2, {1, 1, 0.5f, 0, -0.75f}));
  EXPECT_EQ(descend({"lagged(k=0)", {{1}, {3}}}), on_all(2, {0.5f, 0.25f, 0.125f, 0.0625f, 0.0625f}));
}

// Three weights that begin at 0, whose gradients on a rank stay the same; updates have the rate 1.
class Slope final : private parallel::trials::PlainMemory, public parallel::Replica {
 public:
  Slope(std::span<float> given, const std::vector<float>& slope)
      : PlainMemory({{3}}, given), Replica(list, PlainMemory::gradients, nullptr), slope_(slope) {}
  std::span<float> weights() const { return parameters()[0].weight; }
  double forward(const parallel::Feed&) override { return 0; }
  void backward(const parallel::Feed&, const std::function<void(int p)>& ready) override {
    std::ranges::copy(slope_, parameters()[0].gradient.begin());
    if (ready) ready(0);
  }
  void update(int, std::span<const float> gradient, const optim::Step&) override {
    for (std::size_t i = 0; i < 3; ++i) weights()[i] -= gradient[i];
  }

 private:
  std::vector<float> slope_;
};

std::string slide(const std::string& name, const std::vector<std::vector<float>>& slopes) {
  return on_ranks(static_cast<int>(slopes.size()), [&](const FlowRank& rank) {
    const auto strategy = make(parallel::strategies(), Spec(name), "strategy");
    Slope replica(strategy->open(rank.comm, 16, {}), slopes[static_cast<std::size_t>(rank.rank)]);
    const parallel::Feed feed{{}, {.rows = 1}};
    Weights seen;
    for (int t = 1; t <= 3; ++t) {
      strategy->step(replica, {&feed, 1}, {t, 1});
      seen.insert(seen.end(), replica.weights().begin(), replica.weights().end());
    }
    return text_of(seen);
  });
}

// Each rank sends the largest of its three numbers, and adds the others to those of the next step: the first sends 4,
// then 3 + 3, then 4 + 4; the second 2.5, then 2.5, then 1 + 1 + 1.
TEST(SimulatedAnswer, ACodecThatSendsLessKeepsWhatIsLost) {
  const char* const half = "sync(codec=topk(share=0.3, least=1))";
  EXPECT_EQ(slide(half, {{4, 3, 0}}), on_all(1, {-4, 0, 0, -4, -6, 0, -12, -6, 0}));
  EXPECT_EQ(slide(half, {{4, 3, 0}, {1, 2.5f, 0}}), on_all(2, {-4, -2.5f, 0, -4, -11, 0, -15, -11, 0}));
  EXPECT_EQ(slide("sync", {{4, 3, 0}, {1, 2.5f, 0}}), on_all(2, {-5, -5.5f, 0, -10, -11, 0, -15, -16.5f, 0}));
}

// A quadratic whose gradients take some time.
class SlowQuadratic final : public parallel::Replica {
 public:
  SlowQuadratic(parallel::trials::QuadraticReplica& inner, Timeline& timeline, double seconds)
      : Replica({inner.parameters().begin(), inner.parameters().end()}, inner.Replica::gradients(), nullptr),
        inner_(inner),
        timeline_(timeline),
        seconds_(seconds) {}
  double forward(const parallel::Feed& feed) override {
    timeline_.compute(seconds_);
    return inner_.forward(feed);
  }
  void backward(const parallel::Feed& feed, const std::function<void(int p)>& ready) override {
    inner_.backward(feed, ready);
  }
  void update(int p, std::span<const float> gradient, const optim::Step& step) override {
    inner_.update(p, gradient, step);
  }

 private:
  parallel::trials::QuadraticReplica& inner_;
  Timeline& timeline_;
  double seconds_;
};

struct ServedDescent {
  std::string strategy;
  int servers = 1;
  std::vector<std::vector<float>> curvatures;  // of the samples of each rank that trains
  double total = 1;                            // samples of a team
  std::vector<double> seconds;                 // that each needs for a step
  std::vector<int> steps;                      // that each takes
};

// The weights that each rank sees, those of the first with what is left at the end.
std::string descend(const ServedDescent& descent) {
  const int trainers = static_cast<int>(descent.curvatures.size());
  return on_ranks(trainers + descent.servers, [&](const FlowRank& rank) -> std::string {
    const auto strategy = make(parallel::strategies(), Spec(descent.strategy), "strategy");
    const std::span<float> memory = strategy->open(rank.comm, rank.rank < trainers ? 16 : 0, {});
    if (rank.rank >= trainers) {
      strategy->serve({*make(optim::optimizers(), "sgd", "optimizer")});
      return "";
    }
    parallel::trials::QuadraticReplica inner(memory);
    SlowQuadratic replica(inner, rank.timeline, descent.seconds[rank.rank]);
    strategy->begin(replica, 0);
    const std::vector<float>& own = descent.curvatures[rank.rank];
    const parallel::Feed feed{{{"h", own}}, {.rows = std::ssize(own), .total = descent.total}};
    Weights seen;
    for (int t = 1; t <= descent.steps[rank.rank]; ++t) {
      strategy->step(replica, {&feed, 1}, {t, 0.25});
      seen.push_back(inner.weight());
    }
    strategy->end(replica);
    if (rank.rank == 0) seen.push_back(inner.weight());
    return text_of(seen) + (rank.rank == 0 ? strategy->summary() + "\n" : "");
  });
}

// Rate times curvature is 1/2. The first worker needs 1 s for a step, the second 2.5 s: gradients taken at 1, 1/2, 1
// (of the second) and 1/4 arrive in this order.
TEST(SimulatedAnswer, Async) {
  for (const int servers : {1, 2})
    EXPECT_EQ(
        descend(ServedDescent{fmt::format("async(servers={})", servers), servers, {{2}, {2}}, 1, {1, 2.5}, {3, 1}}),
        fmt::format("0.5 0.25 -0.375 -0.375 \n"
                    "4 updates (rank 0: 3, rank 1: 1); gradients were 0.75 updates old on average, 2 at most; {}\n"
                    "-0.25 \n",
                    servers == 1 ? "the server was busy 0 % of the time" : "servers were busy 0 to 0 % of the time"));
}

// Half of each gradient is applied as it comes. Without slack both see all; with a slack of two the quick one takes
// three steps from 1 by itself, to 27/64, before the slow one's gradient, taken at 1, arrives.
TEST(SimulatedAnswer, Stale) {
  EXPECT_EQ(
      descend(ServedDescent{"stale(bound=0)", 1, {{2}, {2}}, 1, {1, 2}, {3, 3}}),
      "0.5 0.25 0.125 0.125 \n"
      "6 updates (rank 0: 3, rank 1: 3); gradients were 0.50 updates old on average, 1 at most; workers waited 3 s "
      "for each other, 100 % of it for rank 1; the server was busy 0 % of the time\n"
      "0.5 0.25 0.125 \n");
  EXPECT_EQ(
      descend(ServedDescent{"stale(bound=2)", 1, {{2}, {2}}, 1, {1, 8}, {3, 1}}),
      "0.75 0.5625 0.171875 0.171875 \n"
      "4 updates (rank 0: 3, rank 1: 1); gradients were 0.75 updates old on average, 3 at most; workers waited 5 s "
      "for each other, 100 % of it for rank 1; the server was busy 0 % of the time\n"
      "0.171875 \n");
}

TEST(SimulatedAnswer, Server) {
  EXPECT_EQ(descend(ServedDescent{"server", 1, {{1}, {3}}, 2, {1, 2}, {3, 3}}),
            "0.5 0.25 0.125 0.125 \nthe server was busy 0 % of the time\n0.5 0.25 0.125 \n");
  EXPECT_EQ(descend(ServedDescent{"server(servers=2)", 2, {{1, 1, 4}, {}, {2}}, 4, {1, 1, 1}, {2, 2, 2}}),
            "0.5 0.25 0.25 \nservers were busy 0 to 0 % of the time\n0.5 0.25 \n0.5 0.25 \n");
}

// A quick team and a slow one, each with curvatures of 1 and 3: their gradients arrive as those of two workers would.
TEST(SimulatedAnswer, Groups) {
  const std::vector<std::vector<float>> curvatures{{1}, {3}, {1}, {3}};
  EXPECT_EQ(
      descend(ServedDescent{"groups(of=2)", 1, curvatures, 2, {1, 1, 2.5, 2.5}, {3, 3, 1, 1}}),
      "0.5 0.25 -0.375 -0.375 \n"
      "4 updates (rank 0: 3, rank 2: 1); gradients were 0.75 updates old on average, 2 at most; the server was busy "
      "0 % of the time\n"
      "0.5 0.25 -0.375 \n-0.25 \n-0.25 \n");
}

}  // namespace
}  // namespace isobar::sim
