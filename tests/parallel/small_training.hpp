// A small network (convolution, batch norm, dropout, dense) trained on made samples, by any strategy on any number of
// ranks: the same samples make the same global batches however they are dealt.
#pragma once

#include <cstring>
#include <map>
#include <omp.h>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/graph/join_statistics.hpp"
#include "isobar/parallel/placement.hpp"

namespace isobar::parallel::trials {

struct Training {
  std::string strategy = "sync";
  std::int64_t batch = 12;  ///< samples of a step, on all ranks
  int micro = 1;            ///< micro-batches of a step, on each rank
  int steps = 4;
  bool moving_norm = false;  ///< batch norm by the statistics of the batch, which depend on how it is dealt
  bool joint_norm = false;   ///< by the statistics of all ranks together
  double dropout = 0.25;
  std::string optimizer = "sgd(momentum=0.9)";
  double clip_norm = 0;
  int per_node = 64;
  Care care{};
  std::vector<std::int64_t> shares{};  ///< rows of each micro-batch, by rank; empty: as even as possible
  double total = 0;                    ///< what the loss is divided by; 0: the batch
};

inline constexpr std::int64_t sample_floats = 6 * 6 * 2, target_floats = 3;

inline graph::Graph network(std::int64_t batch, const Training& setup) {
  graph::Graph g;
  graph::ValueId v = g.input("x", {batch, 6, 6, 2});
  v = g.add("conv(filters=5, kernel=3)", v, "conv");
  v = g.add(setup.moving_norm || setup.joint_norm ? "batch_norm" : "batch_norm(frozen=true)", v, "norm");
  v = g.add("relu", v, "relu");
  v = g.add("flatten", v, "flat");
  v = g.add(fmt::format("dropout(rate={})", setup.dropout), v, "drop");
  v = g.add("dense(units=7)", v, "hidden");
  v = g.add("tanh", v, "bend");
  v = g.add("dense(units=3)", v, "out");
  g.output("prediction", v);
  g.loss(g.add("mse", {v, g.input("y", {batch, 3})}, "loss"));
  return g;
}

/// The rate changes from step to step, so that a gradient applied with another's is noticed.
inline optim::Step step_number(std::int64_t t, const Training& setup) {
  return {.index = t, .learning_rate = 0.2 / static_cast<double>(t), .clip_norm = setup.clip_norm};
}

/// The feeds of one rank in one step, and the memory they lie in.
struct Dealt {
  std::vector<std::vector<float>> x, y;
  std::vector<std::vector<std::int64_t>> samples;
  std::vector<Feed> feeds;
};

inline std::vector<std::int64_t> even_shares(std::int64_t batch, int parts) {
  std::vector<std::int64_t> shares;
  for (int i = 0; i < parts; ++i) shares.push_back(batch / parts + (i < batch % parts ? 1 : 0));
  return shares;
}

/// The plainest sum over all ranks.
inline void sum_over(comm::Comm& comm, std::span<float> values) {
  std::vector<float> theirs(values.size());
  const std::vector<comm::Bytes> all = comm::all_gather(comm, std::as_bytes(values));
  std::ranges::fill(values, 0.0f);
  for (const comm::Bytes& bytes : all) {
    std::memcpy(theirs.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += theirs[i];
  }
}

/// Everything one rank has.
class Trained {
 public:
  Trained(comm::Comm& comm, const Training& setup)
      : setup_(setup),
        rank_(comm.rank()),
        team_(setup.joint_norm ? duplicate(comm) : nullptr),
        shares_(setup.shares.empty() ? even_shares(setup.batch, comm.size() * setup.micro) : setup.shares),
        optimizer_(make(optim::optimizers(), setup.optimizer, "optimizer")),
        strategy_(make(strategies(), setup.strategy, "strategy")) {
    omp_set_num_threads(1);
    if (strategy_->traits().by_layer) tell_layers(*strategy_, network(1, setup));
    rows_ = *std::ranges::max_element(shares_);
    graph::Graph whole = network(rows_, setup);
    if (setup.joint_norm) whole = graph::join_statistics(whole, {"team", team_->rank(), team_->size()});
    graph::Plan plan = graph::make_plan(whole);
    const std::span<float> gradients = strategy_->open(comm, exec::ParamStore::gradient_floats(plan), setup.care);
    store_ = std::make_unique<exec::ParamStore>(plan, optimizer_->slots(), gradients);
    store_->initialize(1);
    executor_ = std::make_unique<exec::Executor>(std::move(plan), *store_, &trace_.main(), nullptr,
                                                 exec::TalkSetting{{{"team", team_.get()}}, {}, &trace_});
    replica_ = std::make_unique<ComputedReplica>(*executor_, *store_, *optimizer_, &trace_);
  }

  Dealt deal(std::int64_t t) const { return deal(t, rank_); }
  /// What some rank gets.
  Dealt deal(std::int64_t t, int rank) const {
    Dealt dealt;
    for (int m = 0; m < setup_.micro; ++m) {
      const int part = rank * setup_.micro + m;
      std::int64_t first = (t - 1) * setup_.batch;
      for (int i = 0; i < part; ++i) first += shares_[static_cast<std::size_t>(i)];
      const std::int64_t rows = shares_[static_cast<std::size_t>(part)];
      auto& x = dealt.x.emplace_back(static_cast<std::size_t>(rows_ * sample_floats));
      auto& y = dealt.y.emplace_back(static_cast<std::size_t>(rows_ * target_floats));
      auto& samples = dealt.samples.emplace_back();
      for (std::int64_t r = 0; r < rows; ++r) {
        samples.push_back(first + r);
        const Random random(17, static_cast<std::uint64_t>(first + r));
        for (std::int64_t i = 0; i < sample_floats; ++i)
          x[static_cast<std::size_t>(r * sample_floats + i)] =
              static_cast<float>(2 * random.uniform(static_cast<std::uint64_t>(i)) - 1);
        for (std::int64_t i = 0; i < target_floats; ++i)
          y[static_cast<std::size_t>(r * target_floats + i)] = x[static_cast<std::size_t>(r * sample_floats + 5 * i)];
      }
      samples.resize(static_cast<std::size_t>(rows_), -1);
      dealt.feeds.push_back({{{"x", x}, {"y", y}},
                             {.seed = 3,
                              .step = t,
                              .samples = samples,
                              .rows = rows,
                              .total = setup_.total > 0 ? setup_.total : static_cast<double>(setup_.batch)}});
    }
    return dealt;
  }

  double step(std::int64_t t) {
    const Dealt dealt = deal(t);
    return strategy_->step(*replica_, dealt.feeds, step_number(t, setup_));
  }

  /// By name, in plain layout: plans of other batches may store weights otherwise.
  std::map<std::string, std::vector<float>> weights() const {
    std::map<std::string, std::vector<float>> map;
    for (int p = 0; p < store_->count(); ++p) {
      auto& values = map[store_->parameter(p).name];
      values.resize(static_cast<std::size_t>(store_->parameter(p).declared.shape.count()));
      store_->read_plain(p, store_->weight(p), values);
    }
    return map;
  }

  Strategy& strategy() { return *strategy_; }
  ComputedReplica& replica() { return *replica_; }
  exec::ParamStore& store() { return *store_; }
  Trace& trace() { return trace_.main(); }

 private:
  Training setup_;
  int rank_;
  std::unique_ptr<comm::Comm> team_;
  std::vector<std::int64_t> shares_;
  std::int64_t rows_ = 0;
  std::unique_ptr<optim::Optimizer> optimizer_;
  StepTrace trace_;
  std::unique_ptr<Strategy> strategy_;
  std::unique_ptr<exec::ParamStore> store_;
  std::unique_ptr<exec::Executor> executor_;
  std::unique_ptr<ComputedReplica> replica_;
};

struct Outcome {
  std::map<std::string, std::vector<float>> weights;
  std::vector<double> losses;
};

/// Trains on so many ranks; all must end with the same model and have seen the same losses.
inline Outcome train(int ranks, const Training& setup) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  comm::run_ranks(
      ranks,
      [&](comm::Comm& comm) {
        Trained trained(comm, setup);
        Outcome& outcome = outcomes[static_cast<std::size_t>(comm.rank())];
        for (int t = 1; t <= setup.steps; ++t) outcome.losses.push_back(trained.step(t));
        trained.strategy().settle(trained.replica(), Settle::updates);
        outcome.weights = trained.weights();
      },
      setup.per_node);
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.weights, outcomes[0].weights);
    EXPECT_EQ(outcome.losses, outcomes[0].losses);
  }
  return outcomes[0];
}

using WeightsByName = std::map<std::string, std::vector<float>>;

/// The largest difference of two models' numbers.
inline double distance(const WeightsByName& a, const WeightsByName& b) {
  double largest = 0;
  for (const auto& [name, values] : a)
    for (std::size_t i = 0; i < values.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(values[i]) - b.at(name)[i]));
  return largest;
}
inline double distance(const Outcome& a, const Outcome& b) {
  double largest = distance(a.weights, b.weights);
  for (std::size_t i = 0; i < a.losses.size(); ++i) largest = std::max(largest, std::abs(a.losses[i] - b.losses.at(i)));
  return largest;
}

}  // namespace isobar::parallel::trials
