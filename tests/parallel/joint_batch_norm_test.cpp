// Batch norm over the samples of all ranks: training on ranks, some with an incomplete batch or none at all, is the
// training of one rank with the whole batch; statistic by statistic, gradient by gradient.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/graph/join_statistics.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::parallel {
namespace {

constexpr int side = 5, channels = 3, outputs = 2, steps = 4;

graph::Graph joint_batch_norm_network(std::int64_t batch) {
  graph::Graph g;
  graph::ValueId h = g.input("x", {batch, side, side, channels});
  h = g.add("conv(filters=6, kernel=3, padding=same, bias=false)", h, "conv1");
  h = g.add("leaky_relu(slope=0.1)", g.add("batch_norm", h, "norm1"));
  h = g.add("conv(filters=4, kernel=3, bias=false)", h, "conv2");
  h = g.add("tanh", g.add("batch_norm(shift=false)", h, "norm2"));
  const graph::ValueId y = g.add("dense(units=2)", g.add("flatten", h), "fc");
  g.output("prediction", y);
  g.loss(g.add("mse", {y, g.input("y", {batch, outputs})}, "loss"));
  return g;
}

// Numbers of one sample; their mean is far from zero, and it differs from sample to sample.
std::vector<float> numbers(std::int64_t sample, std::uint64_t stream, std::size_t count) {
  const Random random(17, stream);
  const auto base = static_cast<std::uint64_t>(sample) * 1000;
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(random.normal_pair(base + i)[0] + 3.0 * static_cast<double>(sample % 5));
  return values;
}

// What one step left behind, by parameter, in plain order: gradients, and weights (running statistics included).
struct Trail {
  std::map<std::string, std::vector<float>> gradients, weights;
  double loss = 0;
  bool operator==(const Trail&) const = default;
};

using Sum = std::function<void(std::span<float>)>;

// Trains on the given samples, `batch` rows at most; gradients are summed by `exchange`, statistics over `team` if
// given.
std::vector<Trail> joint_batch_norm_train(std::int64_t batch, std::vector<std::int64_t> samples, double total,
                                          const Sum& exchange, comm::Comm* team, bool passes, bool tight = false) {
  graph::Graph network = joint_batch_norm_network(batch);
  if (team) network = graph::join_statistics(network, {"team", team->rank(), team->size()});
  graph::PlanOptions options;
  options.own_kernels = false;  // what ours take for themselves is more than all layers, which are that small
  if (!passes) options.without = {"fuse_pointwise"};
  options.hoist = !tight;  // what moves behind messages keeps more alive than layers that small can spare
  if (tight) options.memory_limit = graph::make_plan(network, options).arena_bytes - 1;
  const graph::Plan plan = graph::make_plan(network, options);
  if (tight) {
    EXPECT_GT(plan.again_steps(), 0u);
  }
  const auto rule = make(optim::optimizers(), "sgd(momentum=0.9)", "optimizer");
  exec::ParamStore store(plan, rule->slots());
  store.initialize(3);
  exec::TalkSetting talk;
  if (team) talk.circles["team"] = team;
  exec::Executor executor(plan, store, nullptr, nullptr, talk);
  executor.poison();
  std::vector<float> x(static_cast<std::size_t>(batch * side * side * channels)),
      y(static_cast<std::size_t>(batch * outputs));
  executor.bind("x", x);
  executor.bind("y", y);
  std::vector<Trail> trails;
  for (int s = 1; s <= steps; ++s) {
    for (std::size_t r = 0; r < samples.size(); ++r) {
      const std::int64_t sample = samples[r] + 100 * s;
      std::ranges::copy(numbers(sample, 1, side * side * channels),
                        x.begin() + static_cast<std::ptrdiff_t>(r) * side * side * channels);
      std::ranges::copy(numbers(sample, 2, outputs), y.begin() + static_cast<std::ptrdiff_t>(r) * outputs);
    }
    const exec::Run run{.samples = samples, .rows = static_cast<std::int64_t>(samples.size()), .total = total};
    executor.forward(run);
    std::array loss{executor.output("loss")[0]};
    executor.backward(run);
    exchange(loss);
    Trail trail;
    trail.loss = loss[0];
    for (int p = 0; p < store.count(); ++p) {
      const ops::Parameter& declared = store.parameter(p).declared;
      std::vector<float> plain(static_cast<std::size_t>(declared.shape.count()));
      if (declared.trained) {
        store.read_plain(p, store.gradient(p), plain);
        exchange(plain);
        store.write_plain(p, plain, store.gradient(p));
        trail.gradients[store.parameter(p).name] = plain;
        const std::array slots{store.slot(p, 0)};
        rule->update(store.weight(p), store.gradient(p), slots, {s, 0.01});
      }
      store.read_plain(p, store.weight(p), plain);
      trail.weights[store.parameter(p).name] = plain;
    }
    trails.push_back(std::move(trail));
  }
  return trails;
}

// Rank r has rows[r] samples; every rank's trail is returned.
std::vector<std::vector<Trail>> train_ranks(const std::vector<std::int64_t>& rows, bool joint, bool passes = true,
                                            bool tight = false) {
  std::vector<std::vector<Trail>> trails(rows.size());
  comm::run_ranks(static_cast<int>(rows.size()), [&](comm::Comm& comm) {
    const std::unique_ptr<comm::Comm> team = duplicate(comm);
    const Sum exchange = [&](std::span<float> data) {
      const auto all = comm::all_gather(comm, std::as_bytes(data));
      std::ranges::fill(data, 0.0f);
      for (const auto& bytes : all) {
        const auto* const from = reinterpret_cast<const float*>(bytes.data());
        for (std::size_t i = 0; i < data.size(); ++i) data[i] += from[i];
      }
    };
    std::int64_t first = 0, total = 0;
    for (int r = 0; r < comm.size(); ++r) (r < comm.rank() ? first : total) += rows[static_cast<std::size_t>(r)];
    total += first;
    const auto rank = static_cast<std::size_t>(comm.rank());
    std::vector<std::int64_t> samples(static_cast<std::size_t>(rows[rank]));
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = first + static_cast<std::int64_t>(i);
    trails[rank] = joint_batch_norm_train(3, samples, static_cast<double>(total), exchange,
                                          joint ? team.get() : nullptr, passes, tight);
  });
  return trails;
}

std::vector<Trail> train_alone(std::int64_t rows) {
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < rows; ++i) samples.push_back(i);
  return joint_batch_norm_train(
      rows, samples, static_cast<double>(rows), [](std::span<float>) {}, nullptr, true);
}

// The largest difference, relative to the norm of what is expected.
double difference(const std::vector<float>& found, const std::vector<float>& expected) {
  double norm = 0, most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    norm += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
    most = std::max(most, std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
  }
  return most / std::sqrt(norm);
}

void expect_same(const std::vector<Trail>& found, const std::vector<Trail>& expected) {
  for (std::size_t s = 0; s < expected.size(); ++s) {
    EXPECT_NEAR(found[s].loss, expected[s].loss, 1e-5 * expected[s].loss) << "step " << s;
    for (const auto& [name, gradient] : expected[s].gradients)
      EXPECT_LT(difference(found[s].gradients.at(name), gradient), 1e-5) << "step " << s << " gradient " << name;
    for (const auto& [name, weight] : expected[s].weights)
      EXPECT_LT(difference(found[s].weights.at(name), weight), 2e-6) << "step " << s << " weight " << name;
  }
}

class JointBatchNorm : public testing::TestWithParam<std::vector<std::int64_t>> {};

TEST_P(JointBatchNorm, RanksTrainAsOneWithTheWholeBatch) {
  std::int64_t rows = 0;
  for (const std::int64_t r : GetParam()) rows += r;
  const std::vector<Trail> alone = train_alone(rows);
  for (const bool passes : {true, false}) {
    const auto ranks = train_ranks(GetParam(), true, passes);
    expect_same(ranks[0], alone);
    for (const auto& rank : ranks) EXPECT_EQ(rank, ranks[0]);  // running statistics too, bit for bit
  }
}

// What is computed again takes the statistics of the forward pass: no message is sent twice, and no bit changes.
TEST_P(JointBatchNorm, ComputingAgainChangesNothing) {
  for (const bool passes : {true, false})
    EXPECT_EQ(train_ranks(GetParam(), true, passes, true), train_ranks(GetParam(), true, passes));
}

INSTANTIATE_TEST_SUITE_P(Rows, JointBatchNorm,
                         testing::Values(std::vector<std::int64_t>{2, 2}, std::vector<std::int64_t>{3, 1},
                                         std::vector<std::int64_t>{3, 0}, std::vector<std::int64_t>{0, 2, 3},
                                         std::vector<std::int64_t>{1, 1, 1}));

// The other tests can fail: statistics of each rank alone give another training.
TEST(JointBatchNorm, StatisticsOfEachRankAloneDiffer) {
  const auto ranks = train_ranks({2, 2}, false);
  const std::vector<Trail> alone = train_alone(4);
  EXPECT_GT(difference(ranks[0][0].gradients.at("conv1.w"), alone[0].gradients.at("conv1.w")), 1e-2);
  EXPECT_NE(ranks[0][0].weights, ranks[1][0].weights);
}

}  // namespace
}  // namespace isobar::parallel
