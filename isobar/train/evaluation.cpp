#include "isobar/train/evaluation.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "isobar/base/error.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/feeds.hpp"

namespace isobar::train {
namespace {

// The results of some samples. In a deterministic run these are the samples of one batch, which is the same on any
// number of ranks, so that all sums are the same; otherwise they are all that a rank has seen.
struct Portion {
  double first = 0;  // its first sample, which determines the order of portions
  double loss = 0;   // summed over samples
  double samples = 0;
  std::vector<std::vector<double>> states{};  // of the metrics
};

// Single predictions, if they are few enough to be kept.
struct KeptRows {
  std::vector<std::int64_t> samples{};  // their numbers, for each row below
  std::vector<float> predictions{}, targets{};
};

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& numbers) {
  return std::as_bytes(std::span(numbers));
}

template <class T>
void append(std::span<const std::byte> bytes, std::vector<T>& numbers) {
  const std::size_t before = numbers.size();
  numbers.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(numbers.data() + before, bytes.data(), bytes.size());
}

// Rows in the order of their samples.
std::vector<float> ordered(const std::vector<float>& rows, const std::vector<std::size_t>& order) {
  std::vector<float> result;
  result.reserve(rows.size());
  const std::size_t width = order.empty() ? 0 : rows.size() / order.size();
  for (const std::size_t row : order)
    result.insert(result.end(), rows.begin() + static_cast<std::ptrdiff_t>(row * width),
                  rows.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
  return result;
}

// Rank 0 gets the rows of all ranks, in the order of the samples.
void collect_rows(comm::Comm& comm, const KeptRows& kept, Evaluated& evaluated) {
  std::vector<std::int64_t> samples;
  std::vector<float> predictions, targets;
  gather(comm, bytes_of(kept.samples), [&](int, std::span<const std::byte> theirs) { append(theirs, samples); });
  gather(comm, bytes_of(kept.predictions), [&](int, auto theirs) { append(theirs, predictions); });
  gather(comm, bytes_of(kept.targets), [&](int, auto theirs) { append(theirs, targets); });
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t row) { return samples[row]; });
  evaluated.predictions = ordered(predictions, order);
  evaluated.targets = ordered(targets, order);
}

std::vector<double> numbers_of(const std::vector<Portion>& portions) {
  std::vector<double> numbers;
  for (const Portion& portion : portions) {
    numbers.insert(numbers.end(), {portion.first, portion.loss, portion.samples});
    for (const std::vector<double>& state : portion.states) {
      numbers.push_back(static_cast<double>(state.size()));
      numbers.insert(numbers.end(), state.begin(), state.end());
    }
  }
  return numbers;
}

// The inverse of numbers_of().
void append_portions(std::span<const double> numbers, std::size_t metrics, std::vector<Portion>& portions) {
  while (!numbers.empty()) {
    Portion& portion = portions.emplace_back(Portion{numbers[0], numbers[1], numbers[2]});
    numbers = numbers.subspan(3);
    for (std::size_t metric = 0; metric < metrics; ++metric) {
      const auto state = numbers.subspan(1, static_cast<std::size_t>(numbers[0]));
      portion.states.emplace_back(state.begin(), state.end());
      numbers = numbers.subspan(1 + state.size());
    }
  }
}

// Rank 0 adds up all portions, in the order of their samples, and sends the results to all.
std::map<std::string, double> collect_results(comm::Comm& comm, const Job& job, const graph::Plan& plan,
                                              const std::vector<Portion>& mine, bool with_loss) {
  std::vector<Portion> all;
  gather(comm, bytes_of(numbers_of(mine)), [&](int, std::span<const std::byte> theirs) {
    std::vector<double> numbers;
    append(theirs, numbers);
    append_portions(numbers, job.metrics.size(), all);
  });
  if (comm.rank() > 0) return {};
  std::ranges::stable_sort(all, {}, &Portion::first);
  reset_metrics(plan, job);
  double loss = 0, samples = 0;
  for (const Portion& portion : all) {
    loss += portion.loss;
    samples += portion.samples;
    for (std::size_t i = 0; i < job.metrics.size(); ++i) job.metrics[i]->merge(portion.states[i]);
  }
  std::map<std::string, double> results;
  if (samples > 0 && with_loss) results["loss"] = loss / samples;
  for (const auto& metric : job.metrics) results.merge(metric->values(job.model.target_names));
  return results;
}

// Sends zero-terminated names, and numbers.
void share_results(comm::Comm& comm, std::map<std::string, double>& results) {
  if (comm.size() == 1) return;
  std::string names;
  std::vector<double> values;
  for (const auto& [name, value] : results) names += name + '\0', values.push_back(value);
  broadcast(comm, names);
  broadcast(comm, values);
  std::size_t at = 0;
  for (const double value : values) {
    const std::string name(names.c_str() + at);
    results[name] = value;
    at += name.size() + 1;
  }
}

}  // namespace

void reset_metrics(const graph::Plan& plan, const Job& job) {
  const std::vector<datasets::Field> fields = job.test_data->fields();
  const Shape* target = shape_of(fields, "y");
  if (!target) fail("the samples have no field 'y' to compare predictions with");
  const Shape prediction = sample_shape(plan.output_shapes.at("prediction"));
  for (const auto& metric : job.metrics) metric->reset(prediction, *target);
}

Evaluated evaluate(exec::Executor& executor, const Job& job, comm::Comm& comm, const std::atomic<bool>* stop) {
  const graph::Plan& plan = executor.plan();
  const std::int64_t rows = plan.inputs.at(0).shape[0];
  datasets::Sampler sampler{job.test_data->size(), rows * comm.size(), job.seed, false, false};
  sampler.full_slices = job.deterministic;
  feeding::LoaderOptions options{.threads = job.readers, .ahead = job.ahead, .rank = comm.rank(), .size = comm.size()};
  options.last_epoch = 1;
  options.on_bad = job.on_bad;
  feeding::Loader loader(*job.test_data, sampler, options);
  const std::int64_t width = plan.output_shapes.at("prediction").count() / rows;
  const bool keep = width * job.test_data->size() <= max_kept_predictions;
  const bool with_loss = plan.outputs.contains("loss");
  reset_metrics(plan, job);
  std::vector<Portion> portions;
  KeptRows kept;
  std::int64_t samples = 0;
  const auto close_portion = [&] {
    for (const auto& metric : job.metrics) portions.back().states.push_back(metric->state());
    reset_metrics(plan, job);
  };
  while (const feeding::Batch* batch = loader.next()) {
    std::int64_t stopping[] = {stop && *stop};
    sum_over_ranks(comm, stopping, until_stalled(comm, job.limits, "a batch of the evaluation"));
    if (stopping[0] > 0) return {.complete = false};
    if (batch->count == 0) continue;  // the other ranks have the whole batch, or all samples are bad
    const auto inputs = named_inputs(plan, *job.test_data, *batch);
    for (const auto& [name, data] : inputs) executor.bind(name, data);
    executor.forward({.seed = job.seed, .samples = batch->samples, .rows = batch->count});
    const auto numbers = static_cast<std::size_t>(batch->count * width);
    const std::span<const float> prediction = executor.output("prediction").first(numbers);
    const std::span<const float> target = first_rows(*job.test_data, *batch, "y");
    if (portions.empty() || job.deterministic) {
      if (!portions.empty()) close_portion();
      portions.push_back({.first = static_cast<double>(batch->samples[0])});
    }
    for (const auto& metric : job.metrics) metric->add(prediction, target);
    if (with_loss) portions.back().loss += static_cast<double>(executor.output("loss")[0]) * batch->count;
    portions.back().samples += static_cast<double>(batch->count);
    samples += batch->count;
    if (!keep) continue;
    kept.samples.insert(kept.samples.end(), batch->samples.begin(), batch->samples.end());
    kept.predictions.insert(kept.predictions.end(), prediction.begin(), prediction.end());
    kept.targets.insert(kept.targets.end(), target.begin(), target.end());
  }
  if (!portions.empty()) close_portion();
  std::int64_t counts[] = {samples, loader.skipped()};
  sum_over_ranks(comm, counts);
  if (counts[0] == 0) fail("all {} samples of data.test are bad", counts[1]);
  Evaluated evaluated;
  evaluated.skipped = counts[1];
  evaluated.results = collect_results(comm, job, plan, portions, with_loss);
  share_results(comm, evaluated.results);
  if (keep) collect_rows(comm, kept, evaluated);
  return evaluated;
}

}  // namespace isobar::train
