// Lanes: a network in stages, one on each rank, each with several executors of one plan: batches under way at the same
// time give the gradients of the whole network.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/exec/executor.hpp"

namespace isobar::exec {
namespace {

constexpr int stages = 3, micro_batches = 5;
constexpr std::int64_t rows = 2;
using Gradients = std::map<std::string, std::vector<float>>;

graph::ValueId layer(graph::Graph& g, graph::ValueId from, const char* name) {
  return g.add("tanh", g.add("dense(units=5)", from, name));
}

void end_with_loss(graph::Graph& g, graph::ValueId from) {
  g.loss(g.add("mse", {g.add("dense(units=3)", from, "c"), g.input("y", {rows, 3})}, "loss"));
}

graph::Graph whole_network() {
  graph::Graph g;
  end_with_loss(g, layer(g, layer(g, g.input("x", {rows, 4}), "a"), "b"));
  return g;
}

std::string letter(const char* what, int rank, int id) {
  return fmt::format("{}, circle=pipe, rank={}, ranks={}, id={})", what, rank, stages, id);
}

graph::Graph stage_network(int rank) {
  graph::Graph g;
  if (rank == 0) {
    g.root(g.add(letter("send(to=1", 0, 0), layer(g, g.input("x", {rows, 4}), "a"), "to 1"));
  } else if (rank == 1) {
    g.set_rows(rows);
    const graph::ValueId from = g.add(letter("receive(from=0, shape=[2, 5]", 1, 0), std::vector<graph::ValueId>());
    g.root(g.add(letter("send(to=2", 1, 1), layer(g, from, "b"), "to 2"));
  } else {
    end_with_loss(g, g.add(letter("receive(from=1, shape=[2, 5]", 2, 1), std::vector<graph::ValueId>()));
  }
  return g;
}

std::vector<float> made_numbers(int batch, std::uint64_t stream, std::int64_t count) {
  const Random random(3, stream);
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<float>(2 * random.uniform(static_cast<std::uint64_t>(100 * batch + i)) - 1));
  return numbers;
}

// The executors of one rank, and what they have computed.
struct Stage {
  Stage(const graph::Graph& network, int lanes, comm::Comm* pipe, bool hoist)
      : plan(std::make_shared<const graph::Plan>(graph::make_plan(network, {.hoist = hoist}))), store(*plan, 0) {
    store.initialize(7);
    for (int lane = 0; lane < lanes; ++lane) {
      TalkSetting talk{.lane = lane, .lanes = lanes};
      if (pipe) talk.circles["pipe"] = pipe;
      executors.push_back(std::make_unique<Executor>(plan, store, nullptr, nullptr, talk));
      executors.back()->poison();
    }
    x.resize(executors.size()), y.resize(executors.size());
  }

  void forward(int batch) {
    const std::size_t lane = static_cast<std::size_t>(batch) % executors.size();
    x[lane] = made_numbers(batch, 1, rows * 4), y[lane] = made_numbers(batch, 2, rows * 3);
    for (const graph::PlanInput& input : plan->inputs)
      executors[lane]->bind(input.name, input.name == "x" ? x[lane] : y[lane]);
    executors[lane]->forward({.step = batch, .total = rows * micro_batches});
    if (plan->outputs.contains("loss")) loss += double{executors[lane]->output("loss")[0]};
  }

  void backward(int batch) {
    executors[static_cast<std::size_t>(batch) % executors.size()]->backward(
        {.step = batch, .total = rows * micro_batches});
    for (int p = 0; p < store.count(); ++p) {
      std::vector<float>& sum = gradients[store.parameter(p).name];
      sum.resize(store.gradient(p).size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += store.gradient(p)[i];
    }
  }

  std::shared_ptr<const graph::Plan> plan;
  ParamStore store;
  std::vector<std::unique_ptr<Executor>> executors;
  std::vector<std::vector<float>> x, y;
  Gradients gradients;
  double loss = 0;
};

void expect_near(const Gradients& found, const Gradients& expected) {
  for (const auto& [name, numbers] : found)
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_NEAR(numbers[i], expected.at(name)[i], 1e-6) << name << " " << i;
}

class Lanes : public testing::TestWithParam<std::tuple<int, bool>> {};

// As many batches as there are stages behind are under way; then each stage goes back and forth.
TEST_P(Lanes, StagesHaveTheGradientsOfTheWhole) {
  const auto [lanes, hoist] = GetParam();
  Stage whole(whole_network(), 1, nullptr, hoist);
  for (int batch = 0; batch < micro_batches; ++batch) whole.forward(batch), whole.backward(batch);
  std::vector<Gradients> found(stages);
  std::vector<double> losses(stages);
  comm::run_ranks(stages, [&, lanes = lanes, hoist = hoist](comm::Comm& comm) {
    const std::unique_ptr<comm::Comm> pipe = duplicate(comm);
    Stage stage(stage_network(comm.rank()), lanes, pipe.get(), hoist);
    EXPECT_EQ(stage.plan->rows, rows);
    const int ahead = std::min(lanes - 1, stages - 1 - comm.rank());
    for (int turn = 0; turn < micro_batches + ahead; ++turn) {
      if (turn < micro_batches) stage.forward(turn);
      if (turn >= ahead) stage.backward(turn - ahead);
    }
    found[static_cast<std::size_t>(comm.rank())] = stage.gradients;
    losses[static_cast<std::size_t>(comm.rank())] = stage.loss;
  });
  EXPECT_NEAR(losses[2], whole.loss, 1e-6);
  EXPECT_EQ(losses[0] + losses[1], 0);
  for (const Gradients& stage : found) {
    EXPECT_EQ(stage.size(), 2u);
    expect_near(stage, whole.gradients);
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, Lanes, testing::Combine(testing::Values(1, 2, 3), testing::Bool()));

TEST(Roots, GradientsOfAllOfThemAddUp) {
  const auto gradients = [](bool first, bool second) {
    graph::Graph g;
    const graph::ValueId x = g.input("x", {rows, 4}), y = g.input("y", {rows, 3});
    const graph::ValueId h = g.add("dense(units=3)", x, "a");
    const graph::ValueId losses[] = {g.add("mse", {h, y}, "mse"), g.add("mae", {g.add("tanh", h), y}, "mae")};
    if (first) g.loss(losses[0]);
    if (second) g.root(losses[1]);
    const graph::Plan plan = graph::make_plan(g);
    ParamStore store(plan, 0);
    store.initialize(2);
    Executor executor(plan, store);
    const std::vector<float> xs = made_numbers(0, 1, rows * 4), ys = made_numbers(0, 2, rows * 3);
    executor.bind("x", xs);
    executor.bind("y", ys);
    executor.forward({});
    executor.backward({});
    const std::span<float> dw = store.gradient(store.find("a.w"));
    return std::vector<float>(dw.begin(), dw.end());
  };
  const std::vector<float> both = gradients(true, true), loss = gradients(true, false), other = gradients(false, true);
  for (std::size_t i = 0; i < both.size(); ++i) EXPECT_NEAR(both[i], loss[i] + other[i], 1e-6);
  EXPECT_NE(both, loss);
}

TEST(Roots, ATrainingPlanNeedsOne) {
  graph::Graph g;
  g.output("y", g.add("dense(units=3)", g.input("x", {rows, 4}), "a"));
  EXPECT_THROW(graph::make_plan(g), Error);
}

// The value exists as it is: what follows it is not fused into the layer that makes it.
TEST(Roots, AreNotFusedAway) {
  graph::Graph g;
  const graph::ValueId x = g.input("x", {rows, 4});
  const graph::ValueId h = g.add("dense(units=3)", x, "a");
  g.output("y", g.add("relu", h, "bend"));
  const std::size_t fused = graph::make_plan(g, {.phase = ops::Phase::inference}).steps.size();
  g.root(h);
  EXPECT_EQ(graph::make_plan(g, {.phase = ops::Phase::inference}).steps.size(), fused + 1);
}

TEST(Rows, AreThoseOfTheFirstInputUnlessSet) {
  graph::Graph g;
  EXPECT_EQ(g.rows(), 1);
  g.input("x", {6, 4});
  EXPECT_EQ(g.rows(), 6);
  g.set_rows(3);
  EXPECT_EQ(g.rows(), 3);
}

}  // namespace
}  // namespace isobar::exec
