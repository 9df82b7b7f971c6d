// Runs a network whole, and cut over ranks that are threads, on the same numbers: losses, outputs and gradients.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/split/split.hpp"

#include "tests/zoo/trial.hpp"

namespace isobar::split {

/// What one pass over a batch gives: numbers by name, weights in plain order.
struct PassResult {
  double loss = 0;
  std::map<std::string, std::vector<double>> gradients{}, statistics{};
  std::vector<double> prediction{};
  comm::ExchangeCost cost{};
};

/// What a network is run with.
struct CutCase {
  Spec network;
  std::int64_t batch = 2, tokens = 0;
  graph::PlanOptions options{};
};

inline graph::Graph graph_of(const CutCase& c) { return zoo::training_graph(*zoo::make_network(c.network), c.batch); }

inline PassResult run_whole(const CutCase& c) {
  zoo::Trial trial(graph_of(c), zoo::make_network(c.network)->loss(), c.tokens, c.options);
  PassResult result{.loss = trial.backward()};
  exec::ParamStore& store = trial.store();
  for (int p = 0; p < store.count(); ++p) {
    const bool trained = store.parameter(p).declared.trained;
    const std::vector<float> plain = trial.plain(p, trained ? store.gradient(p) : store.weight(p));
    (trained ? result.gradients : result.statistics)[store.parameter(p).name].assign(plain.begin(), plain.end());
  }
  const std::span<const float> prediction = trial.output("prediction");
  result.prediction.assign(prediction.begin(), prediction.end());
  return result;
}

/// The part of every sample of a batch that lies in a box.
inline std::vector<float> cut_batch(const std::vector<float>& whole, const Shape& shape, const Box& box) {
  const Shape sample(std::vector(shape.extents().begin() + 1, shape.extents().end()));
  std::vector<float> part(static_cast<std::size_t>(shape[0] * box.count()));
  for (std::int64_t n = 0; n < shape[0]; ++n)
    copy_box(Box::whole(sample), std::span(whole).subspan(n * sample.count(), sample.count()), box,
             std::span(part).subspan(n * box.count(), box.count()));
  return part;
}

/// Puts what a rank has predicted in its place.
inline void put_prediction(std::vector<double>& all, const graph::Graph& whole, const ModelPart& part,
                           std::span<const float> mine) {
  const Shape& shape = whole.value(whole.find("prediction")).shape;
  const Shape sample(std::vector(shape.extents().begin() + 1, shape.extents().end()));
  const auto found = part.outputs.find("prediction");
  const Box box = found == part.outputs.end() ? Box::whole(sample) : found->second;
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for_each_run(box.shape.extents(), box.shape.extents(), std::vector<std::int64_t>(box.begin.size()),
                 sample.extents(), box.begin, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
                   std::copy_n(mine.begin() + n * box.count() + from, count, all.begin() + n * sample.count() + to);
                 });
}

/// All ranks together: losses and gradients added up, predictions put together.
inline PassResult run_cut(const CutCase& c, const Spec& split_spec) {
  const auto split = make(splits(), split_spec, "split");
  const graph::Graph whole = graph_of(c);
  const zoo::Trial trial(graph_of(c), zoo::make_network(c.network)->loss(), c.tokens);
  PassResult all;
  all.prediction.resize(static_cast<std::size_t>(whole.value(whole.find("prediction")).shape.count()));
  std::mutex mutex;
  constexpr int passes = 2;
  comm::run_ranks(split->ways(), [&](comm::Comm& comm) {
    const ModelPart part = split->cut(whole, comm.rank());
    const auto circle = comm::duplicate(comm);
    const graph::Plan plan = graph::make_plan(part.graph, c.options);
    exec::ParamStore store(plan, 0);
    store.initialize(3);
    exec::Executor executor(plan, store, nullptr, nullptr, {.circles = {{"replica", circle.get()}}});
    std::map<std::string, std::vector<float>> bound;
    const auto bind = [&](const std::string& name, const std::vector<float>& numbers) {
      const Shape& shape = whole.value(whole.find(name)).shape;
      const auto box = part.inputs.find(name);
      bound[name] = box == part.inputs.end() ? numbers : cut_batch(numbers, shape, box->second);
      executor.bind(name, bound[name]);
    };
    bind("x", trial.x()), bind("y", trial.y());
    std::vector<std::int64_t> samples;
    for (std::int64_t i = 0; i < c.batch; ++i) samples.push_back(i);
    const exec::Run run{.seed = 1, .samples = samples, .total = static_cast<double>(c.batch) / part.loss_share};
    for (int pass = 0; pass < passes; ++pass) {  // the second finds memory as the first has left it
      store.initialize(3);
      executor.forward(run);
      executor.backward(run);
    }
    const std::lock_guard lock(mutex);
    all.loss += executor.output("loss")[0];
    put_prediction(all.prediction, whole, part, executor.output("prediction"));
    for (int p = 0; p < store.count(); ++p) {
      const bool trained = store.parameter(p).declared.trained;
      std::vector<float> plain(static_cast<std::size_t>(store.parameter(p).declared.shape.count()));
      store.read_plain(p, trained ? store.gradient(p) : store.weight(p), plain);
      std::vector<double>& sum = (trained ? all.gradients : all.statistics)[store.parameter(p).name];
      sum.resize(plain.size());
      for (std::size_t i = 0; i < plain.size(); ++i) trained ? sum[i] += plain[i] : sum[i] = plain[i];
    }
    const comm::ExchangeCost cost = executor.message_cost();
    all.cost.traffic.messages += cost.traffic.messages / passes;
    all.cost.traffic.bytes += cost.traffic.bytes / passes;
  });
  return all;
}

using NumbersByName = std::map<std::string, std::vector<double>>;

inline double norm(const std::vector<double>& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

/// The largest difference, relative to the norm of each; of the largest of them, a thousandth at least, because some
/// gradients, such as that of a bias before batch norm, are rounding alone.
inline double distance(const NumbersByName& a, const NumbersByName& b) {
  double largest = 0, least = 1e-12;
  for (const auto& [name, values] : a) least = std::max(least, norm(values) / 1000);
  for (const auto& [name, values] : a) {
    std::vector<double> difference(values.size());
    std::ranges::transform(values, b.at(name), difference.begin(), std::minus());
    largest = std::max(largest, norm(difference) / std::max(least, norm(values)));
  }
  return largest;
}

}  // namespace isobar::split
