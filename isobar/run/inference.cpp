#include "isobar/run/inference.hpp"

#include <algorithm>
#include <cstring>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/checkpoint/member_snapshot.hpp"
#include "isobar/datasets/sample_range.hpp"
#include "isobar/feeding/surveyed.hpp"
#include "isobar/graph/reaching.hpp"
#include "isobar/parallel/composition.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/run_tuning.hpp"

namespace isobar::run {
namespace {

// The memory for activations of a model without a run, if the number of samples at a time was not given.
constexpr std::size_t activation_bytes = std::size_t{512} << 20;
constexpr std::int64_t most_rows = 32;

const std::vector<std::string> prediction_only{"prediction"};

}  // namespace

Inference::Inference(Trained trained, const InferenceOptions& options, comm::Comm& comm)
    : trained_(std::move(trained)), comm_(comm), data_name_(options.data_name) {
  job_.model = trained_.model;
  if (trained_.is_run()) read_settings();
  open_data(options);
  graph::Plan plan = plan_for(options);
  train::expect_fields(plan, *job_.test_data, data_name_);
  make_networks(std::move(plan));
  if (options.evaluates) choose_metrics(options);
}

void Inference::choose_metrics(const InferenceOptions& options) {
  if (!target_shape())
    fail("{}: samples have no field 'y' to compare predictions with; 'isobar predict' needs none", data_name_);
  Spec loss = job_.model.loss;
  if (loss.name().empty()) loss = meaning() == writing::Meaning::classes ? "softmax_cross_entropy" : "mse";
  std::vector<std::string> chosen = metrics::default_metrics(loss);
  if (trained_.is_run()) chosen = Args(trained_.recipe, "recipe").section("train").texts("metrics", chosen);
  for (const std::string& metric : options.metrics.value_or(chosen))
    job_.metrics.push_back(make(metrics::metrics(), Spec(metric), "metric"));
  train::reset_metrics(prediction_shape(), job_, *job_.test_data);
}

// The keys of the recipe that determine how samples are read.
void Inference::read_settings() {
  Args root(trained_.recipe, "recipe");
  job_.limits = train::limits_of(*make(parallel::strategies(), parallel::read_composition(root).strategy, "strategy"));
  members_apart_ = predicts_by_mean(trained_);
  job_.seed = static_cast<std::uint64_t>(root.integer("seed", 1));
  Args data = root.section("data");
  transforms_ = data.texts("transforms", {});
  job_.on_bad =
      data.one_of("bad_samples", "fail", {"fail", "skip"}) == "skip" ? feeding::OnBad::skip : feeding::OnBad::fail;
  job_.readers = static_cast<int>(std::clamp<std::int64_t>(data.integer("readers", 1), 1, 256));
  job_.ahead = static_cast<int>(std::clamp<std::int64_t>(data.integer("ahead", 2), 1, 64));
  if (transforms_.empty()) return;
  job_.pipeline = std::make_shared<transforms::Pipeline>(transforms_);
  if (comm_.rank() == 0) job_.pipeline->recall(trained_.folder / "learned.h5");
  train::share_learned(*job_.pipeline, comm_);
}

void Inference::open_data(const InferenceOptions& options) {
  std::shared_ptr<const datasets::Dataset> source = options.data;
  if (!source) {
    Args data = Args(trained_.recipe, "recipe").section("data");
    if (!trained_.is_run() || !data.has("test"))
      fail_usage("{} has no test data of its own; name some: --data FILE, or --data 'hdf5(path=...)'", trained_.name);
    const Spec test = data.spec("test");
    data_name_ = test.str();
    datasets::Survey survey;
    source = feeding::surveyed(survey, comm_, [&] { return datasets::make_dataset(test, survey); });
  }
  if (source->size() < 1) fail("{}: contains no samples", data_name_);
  if (options.first != 0 || options.last >= 0)
    source = datasets::sample_range(source, options.first, options.last >= 0 ? options.last : source->size());
  job_.test_source = source;
  if (job_.pipeline) job_.pipeline->leave_out_absent(*source);
  job_.test_data = with_transforms(source);
  if (comm_.rank() == 0) name_classes(options.data != nullptr);
}

std::shared_ptr<const datasets::Dataset> Inference::with_transforms(
    std::shared_ptr<const datasets::Dataset> source) const {
  if (!job_.pipeline) return source;
  return std::make_shared<transforms::Transformed>(std::move(source), job_.pipeline);
}

// Data other than the run's may lack class names, but must not have different ones.
void Inference::name_classes(bool other_data) {
  std::vector<std::string>& names = job_.model.target_names;
  if (!names.empty()) return;
  names = job_.test_data->classes();
  if (!other_data || !trained_.is_run() || meaning_of(job_.model.loss, Shape{2}, nullptr) != writing::Meaning::classes)
    return;
  std::vector<std::string> known;
  for (const char* set : {"test", "train"}) {
    Args data = Args(trained_.recipe, "recipe").section("data");
    if (!known.empty() || !data.has(set)) continue;
    try {
      const std::shared_ptr<const datasets::Dataset> own = datasets::make_dataset(data.spec(set));
      known = transforms::Transformed(own, std::make_shared<transforms::Pipeline>(transforms_)).classes();
    } catch (const Error&) {  // the run's own data may not exist here
    }
  }
  if (!known.empty() && !names.empty() && known != names)
    fail("{} has the classes {}; the run was trained with {}: their numbers would mean different things", data_name_,
         one_line(join(names, ", ")), one_line(join(known, ", ")));
  if (names.empty()) names = known;
}

std::int64_t Inference::rows_for(const InferenceOptions& options) const {
  if (options.rows > 0) return options.rows;
  if (trained_.position.rows > 0) return trained_.position.rows;
  if (trained_.position.batch > 0) return trained_.position.batch;
  const graph::Plan one =
      graph::make_plan(graph::reaching(job_.model.graph(1), prediction_only), {.phase = ops::Phase::inference});
  const auto fit = static_cast<std::int64_t>(activation_bytes / std::max<std::size_t>(1, one.arena_bytes));
  return std::clamp<std::int64_t>(std::min(fit, job_.test_data->size()), 1, most_rows);
}

// Weights have the layouts of training, so that the same kernels run as in the run's evaluations.
graph::Plan Inference::plan_for(const InferenceOptions& options) const {
  const graph::Graph graph = job_.model.graph(rows_for(options));
  graph::PlanOptions planning{.phase = ops::Phase::inference};
  if (trained_.is_run()) planning.tuning = train::kept_tuning(trained_.folder, comm_);
  if (trained_.is_run())
    for (const graph::PlanParameter& parameter : graph::make_plan(graph, {.tuning = planning.tuning}).parameters)
      if (parameter.layout.data.ndims != 0) planning.stored[parameter.name] = parameter.layout;
  const bool has_loss = graph.outputs().contains("loss");
  bool loss = options.evaluates && has_loss;
  if (options.shows && has_loss) {
    const std::vector<datasets::Field> fields = job_.test_data->fields();
    const Shape* y = train::shape_of(fields, "y");
    for (const graph::GraphValue& value : graph.values())
      if (value.role == graph::GraphValue::Role::input && value.name == "y" && y)
        loss = *y == train::sample_shape(value.shape);
  }
  return graph::make_plan(loss ? graph : graph::reaching(graph, prediction_only), planning);
}

// Of every network; on rank 0.
std::vector<checkpoint::Snapshot> Inference::read_weights() const {
  if (!members_apart_) return {trained_.checkpoint->read_weights()};
  const checkpoint::Snapshot all = trained_.checkpoint->read();
  const int members = checkpoint::members_of(all, parallel::member_weights);
  if (members == 0)
    fail("{}: has no '{}', which a run of this strategy keeps of every rank", all.origin, parallel::member_weights);
  std::vector<checkpoint::Snapshot> list;
  for (int member = 0; member < members; ++member)
    list.push_back(checkpoint::member_snapshot(all, parallel::member_weights, member));
  return list;
}

// They never run at the same time.
void Inference::make_networks(graph::Plan plan) {
  std::vector<checkpoint::Snapshot> weights;
  if (trained_.is_run() && comm_.rank() == 0) weights = read_weights();
  std::int64_t count = trained_.is_run() ? std::ssize(weights) : 1;
  broadcast_object(comm_, count);
  const auto shared = std::make_shared<const graph::Plan>(std::move(plan));
  const auto arena = std::make_shared<Block>(shared->arena_bytes);
  std::vector<exec::Executor*> networks;
  for (std::int64_t i = 0; i < count; ++i) {
    exec::ParamStore& store = *stores_.emplace_back(std::make_unique<exec::ParamStore>(*shared, 0));
    if (!trained_.is_run()) store.initialize(job_.seed);
    else if (comm_.rank() == 0) checkpoint::restore_weights(std::exchange(weights[i], {}), store);
    if (trained_.is_run()) broadcast(comm_, std::as_writable_bytes(store.all_weights()));
    executors_.push_back(std::make_unique<exec::Executor>(shared, store, nullptr, arena));
    networks.push_back(executors_.back().get());
  }
  if (members_apart_) predictor_ = std::make_unique<train::Predictor>(networks, whole_, job_.model);
  else predictor_ = std::make_unique<train::Predictor>(*networks.front());
}

std::optional<Shape> Inference::target_shape() const {
  const std::vector<datasets::Field> fields = job_.test_data->fields();
  const Shape* y = train::shape_of(fields, "y");
  return y ? std::optional(*y) : std::nullopt;
}

writing::Meaning Inference::meaning() const {
  const std::optional<Shape> target = target_shape();
  return meaning_of(job_.model.loss, prediction_shape(), target ? &*target : nullptr);
}

train::Evaluated Inference::evaluate(const std::atomic<bool>* stop) {
  return train::evaluate(*predictor_, job_, {job_.test_data}, comm_, stop);
}

bool Inference::predict(const std::function<void(const PredictedRows&)>& take, const std::atomic<bool>* stop) {
  const datasets::Sampler sampler{job_.test_data->size(), rows() * comm_.size(), job_.seed, false, false};
  feeding::LoaderOptions reading{
      .threads = job_.readers, .ahead = job_.ahead, .rank = comm_.rank(), .size = comm_.size()};
  reading.last_epoch = 1;
  reading.on_bad = job_.on_bad;
  feeding::Loader loader(*job_.test_data, sampler, reading);
  while (const feeding::Batch* batch = loader.next()) {
    std::int64_t stopping[] = {stop && *stop};
    sum_over_ranks(comm_, stopping, train::while_all_answer(comm_, job_.limits, "a batch of predictions"));
    if (stopping[0] > 0) return false;
    if (batch->count > 0) {
      for (const auto& [name, memory] : train::named_inputs(predictor_->plan(), *job_.test_data, *batch))
        predictor_->bind(name, memory);
      predictor_->forward({.seed = job_.seed, .samples = batch->samples, .rows = batch->count});
    }
    give(*batch, take);
  }
  return true;
}

// The ranks' parts, one after another, are in the order of the samples.
void Inference::give(const feeding::Batch& batch, const std::function<void(const PredictedRows&)>& take) const {
  const auto count = static_cast<std::size_t>(batch.count);
  const auto width = static_cast<std::size_t>(prediction_shape().count());
  const auto mine = count > 0 ? predictor_->prediction() : std::span<const float>();
  const auto targets = train::first_rows(*job_.test_data, batch, "y");
  if (comm_.rank() == 0 && count > 0) take({batch.samples, mine, targets});
  if (comm_.size() == 1) return;
  std::vector<std::vector<std::int64_t>> samples;
  gather(comm_, std::as_bytes(std::span(batch.samples)), [&](int, std::span<const std::byte> theirs) {
    std::vector<std::int64_t>& list = samples.emplace_back(theirs.size() / sizeof(std::int64_t));
    if (!theirs.empty()) std::memcpy(list.data(), theirs.data(), theirs.size());
  });
  std::vector<float> rows;  // rank 0 already has its own
  if (comm_.rank() > 0) {
    rows.assign(mine.begin(), mine.end());
    rows.insert(rows.end(), targets.begin(), targets.end());
  }
  gather(comm_, std::as_bytes(std::span(rows)), [&](int rank, std::span<const std::byte> theirs) {
    const std::vector<std::int64_t>& list = samples[static_cast<std::size_t>(rank)];
    if (rank == 0 || list.empty()) return;
    rows.resize(theirs.size() / sizeof(float));
    std::memcpy(rows.data(), theirs.data(), theirs.size());
    take({list, std::span(rows).first(list.size() * width), std::span(rows).subspan(list.size() * width)});
  });
}

}  // namespace isobar::run
