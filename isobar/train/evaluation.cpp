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
  // Of the metrics; empty on ranks that only compute, whose predictions the first of their replica has judged.
  std::vector<std::vector<double>> states{};
};

constexpr std::string_view target_field = "y";

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

// What one rank has computed so far, and judged, if it is the first of its replica.
class Judge {
 public:
  Judge(Predictor& predictor, const Job& job, const datasets::Dataset& set, const datasets::Dataset& data)
      : predictor_(predictor), job_(job), part_(predictor.part()), set_(set), data_(data) {
    reset();
  }

  void add(const feeding::Batch& batch) {
    for (const auto& [name, numbers] : named_inputs(plan(), data_, batch)) predictor_.bind(name, numbers);
    bind_part_of_targets(batch);
    predictor_.forward({.seed = job_.seed, .samples = batch.samples, .rows = batch.count});
    if (portions_.empty() || job_.deterministic) {
      if (!portions_.empty()) finish();
      portions_.push_back({.first = static_cast<double>(batch.samples[0])});
    }
    portions_.back().loss += predictor_.loss() * static_cast<double>(batch.count);
    if (!part_.is_first()) return;
    const std::span<const float> prediction = predictor_.prediction();
    const std::span<const float> target = first_rows(data_, batch, target_field);
    for (const auto& metric : job_.metrics) metric->add(prediction, target);
    portions_.back().samples += static_cast<double>(batch.count);
    samples_ += batch.count;
    if (!keeps()) return;
    kept_.samples.insert(kept_.samples.end(), batch.samples.begin(), batch.samples.end());
    kept_.predictions.insert(kept_.predictions.end(), prediction.begin(), prediction.end());
    kept_.targets.insert(kept_.targets.end(), target.begin(), target.end());
  }
  // Closes the last portion.
  void finish() {
    if (portions_.empty()) return;
    for (const auto& metric : job_.metrics)
      portions_.back().states.push_back(part_.is_first() ? metric->state() : std::vector<double>());
    reset();
  }

  void reset() const { reset_metrics(predictor_.prediction_shape(), job_, set_); }
  bool keeps() const { return predictor_.prediction_shape().count() * set_.size() <= max_kept_predictions; }
  bool with_loss() const { return predictor_.with_loss(); }
  std::int64_t samples() const { return samples_; }
  const std::vector<Portion>& portions() const { return portions_; }
  const KeptRows& kept() const { return kept_; }

 private:
  const graph::Plan& plan() const { return predictor_.plan(); }

  // Where targets were read whole and the network takes a part of them.
  void bind_part_of_targets(const feeding::Batch& batch) {
    if (part_.alone() || !part_.is_first()) return;
    const auto input = std::ranges::find(plan().inputs, target_field, &graph::PlanInput::name);
    const auto field = std::ranges::find(part_.inputs(), target_field, &datasets::Field::name);
    if (input == plan().inputs.end() || field == part_.inputs().end()) return;
    const Box whole = Box::whole(field->shape), box = part_.box_of(*field, 0);
    if (box == whole) return;
    const std::span<const float> read = first_rows(data_, batch, target_field);
    const std::size_t all = whole.count(), mine = box.count();
    targets_.assign(input->shape.count(), 0.0f);
    for (std::int64_t row = 0; row < batch.count; ++row)
      copy_box(whole, read.subspan(row * all, all), box, std::span(targets_).subspan(row * mine, mine));
    predictor_.bind(input->name, targets_);
  }

  Predictor& predictor_;
  const Job& job_;
  const ReplicaPart& part_;
  const datasets::Dataset& set_;
  const datasets::Dataset& data_;  // as this rank reads it
  std::vector<Portion> portions_;
  KeptRows kept_;
  std::vector<float> targets_;  // parts of them
  std::int64_t samples_ = 0;    // that this rank counts
};

// Rank 0 adds up all portions, in the order of their samples, and sends the results to all.
std::map<std::string, double> collect_results(comm::Comm& comm, const Job& job, const Judge& judge) {
  std::vector<Portion> all;
  gather(comm, bytes_of(numbers_of(judge.portions())), [&](int, std::span<const std::byte> theirs) {
    std::vector<double> numbers;
    append(theirs, numbers);
    append_portions(numbers, job.metrics.size(), all);
  });
  if (comm.rank() > 0) return {};
  std::ranges::stable_sort(all, {}, &Portion::first);
  judge.reset();
  double loss = 0, samples = 0;
  for (const Portion& portion : all) {
    loss += portion.loss;
    samples += portion.samples;
    for (std::size_t i = 0; i < job.metrics.size() && portion.samples > 0; ++i)
      job.metrics[i]->merge(portion.states[i]);
  }
  std::map<std::string, double> results;
  if (samples > 0 && judge.with_loss()) results["loss"] = loss / samples;
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

void reset_metrics(const Shape& prediction, const Job& job, const datasets::Dataset& set) {
  const std::vector<datasets::Field> fields = set.fields();
  const Shape* target = shape_of(fields, target_field);
  if (!target) fail("the samples have no field 'y' to compare predictions with");
  for (const auto& metric : job.metrics) metric->reset(prediction, *target);
}

Evaluated evaluate(Predictor& predictor, const Job& job, const EvaluatedSet& set, comm::Comm& comm,
                   const std::atomic<bool>* stop) {
  const ReplicaPart& part = predictor.part();
  const std::int64_t rows = predictor.plan().rows;
  const int replicas = comm.size() / part.ways();
  datasets::Sampler sampler{set.data->size(), rows * replicas, job.seed, false, false};
  sampler.full_slices = job.deterministic;
  feeding::LoaderOptions options{
      .threads = job.readers, .ahead = job.ahead, .rank = comm.rank() / part.ways(), .size = replicas};
  options.last_epoch = 1;
  options.on_bad = job.on_bad;
  options.agree = part.agreement(job.limits);
  const std::shared_ptr<const datasets::Dataset> data = part.seen(set.data, /*whole_targets=*/true);
  feeding::Loader loader(*data, sampler, options);
  Judge judge(predictor, job, *set.data, *data);
  while (const feeding::Batch* batch = loader.next()) {
    std::int64_t stopping[] = {stop && *stop};
    sum_over_ranks(comm, stopping, until_stalled(comm, job.limits, "a batch of the evaluation"));
    if (stopping[0] > 0) return {.complete = false};
    if (batch->count > 0) judge.add(*batch);  // else other ranks have the whole batch, or all samples are bad
  }
  judge.finish();
  std::int64_t counts[] = {judge.samples(), part.is_first() ? loader.skipped() : 0};
  sum_over_ranks(comm, counts);
  if (counts[0] == 0) fail("all {} samples of {} are bad", counts[1], set.name);
  Evaluated evaluated;
  evaluated.skipped = counts[1];
  evaluated.results = collect_results(comm, job, judge);
  share_results(comm, evaluated.results);
  if (judge.keeps()) collect_rows(comm, judge.kept(), evaluated);
  return evaluated;
}

}  // namespace isobar::train
