#include "isobar/train/job.hpp"

#include <algorithm>
#include <omp.h>

#include "isobar/base/bytes.hpp"
#include "isobar/base/text.hpp"
#include "isobar/parallel/composition.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/replica_part.hpp"
#include "isobar/train/target.hpp"

namespace isobar::train {
namespace {

// Makes a member of a family and notes the Spec with its defaults in the recipe.
template <class R>
auto read_member(Args& args, std::string_view key, const Spec& otherwise, Table<R> table, std::string_view family) {
  Spec resolved;
  auto made = make(table, args.spec(key, otherwise), family, &resolved);
  args.record(key, resolved);
  return made;
}

std::unique_ptr<datasets::Dataset> read_dataset(Args& args, std::string_view key, const Spec& spec,
                                                datasets::Survey& survey) {
  Spec resolved;
  auto made = datasets::make_dataset(spec, survey, &resolved);
  args.record(key, resolved);
  return made;
}

std::shared_ptr<const datasets::Dataset> with_transforms(const Job& job,
                                                         std::shared_ptr<const datasets::Dataset> source) {
  if (!job.pipeline || !source) return source;
  return std::make_shared<transforms::Transformed>(std::move(source), job.pipeline);
}

void apply_transforms(Job& job) {
  job.train_data = with_transforms(job, job.source);
  job.test_data = with_transforms(job, job.test_source);
  job.validation.data = with_transforms(job, job.validation.source);
}

// What belongs to the training set fits the other sets.
void expect_like_training(const Job& job, const std::shared_ptr<const datasets::Dataset>& data, std::string_view key) {
  if (data && data->classes() != job.train_data->classes())
    fail("data.train has the classes {}; {} has {}: their numbers would mean different things",
         join(job.train_data->classes(), ", "), key, join(data->classes(), ", "));
}

void expect_learned_fits(const Job& job, const std::shared_ptr<const datasets::Dataset>& data, std::string_view key) {
  if (!data) return;
  const Shape train = job.source->fields()[0].shape, other = data->fields()[0].shape;
  if (train != other)
    fail("data.train has samples of {}, {} of {}: what is learned from the one does not fit the other", train.str(),
         key, other.str());
}

void read_transforms(Args& data, Job& job) {
  const std::vector<std::string> specs = data.texts("transforms", {});
  if (specs.empty()) return;
  std::vector<std::string> resolved;
  job.pipeline = std::make_shared<transforms::Pipeline>(specs, &resolved);
  data.record("transforms", std::vector<Value>(resolved.begin(), resolved.end()));
  if (job.pipeline->learns()) {
    expect_learned_fits(job, job.test_data, "data.test");
    expect_learned_fits(job, job.validation.data, "data.validation");
  }
  apply_transforms(job);
}

void learn(Job& job, const datasets::Dataset& from, const std::filesystem::path& file, comm::Comm& comm) {
  if (!job.pipeline || !job.pipeline->learns()) return;
  // Nothing is computed meanwhile: the threads that will are free to read.
  if (comm.rank() == 0) job.pipeline->learn(from, file, std::max(job.readers, omp_get_max_threads()));
  meet(comm, job.limits, "what transforms learn from the training set");
  share_learned(*job.pipeline, comm);
}

}  // namespace

WaitLimits limits_of(const parallel::Strategy& strategy) {
  return {strategy.traits().warn_seconds, strategy.traits().stall_seconds};
}

void share_learned(transforms::Pipeline& pipeline, comm::Comm& comm) {
  for (std::vector<float>* values : pipeline.learned()) broadcast(comm, *values);
}

// All that this rank reads of samples of a set; empty: whole samples.
static datasets::Region region_read(const Job& job, const std::shared_ptr<const datasets::Dataset>& source,
                                    const ReplicaPart& part, bool whole_targets) {
  if (part.alone()) return {};
  if (!job.pipeline) return part.region(source->fields(), whole_targets);
  const transforms::Transformed transformed(source, job.pipeline);
  return transformed.reach(part.region(transformed.fields(), whole_targets));
}

StagedData stage_data(Job& job, const std::filesystem::path& learned_file, comm::Comm& comm, const ReplicaPart& part,
                      const std::vector<int>& peers) {
  const std::shared_ptr<const datasets::Dataset> original = job.source, original_test = job.test_source;
  feeding::StagingSetting setting{
      .readers = job.readers, .keep_bad = job.on_bad == feeding::OnBad::skip, .peers = peers};
  setting.region = region_read(job, job.source, part, false);
  setting.subset = job.validation.part_trained_on();
  const feeding::Staged train =
      job.staging->stage(job.train_spec, job.validation.is_share() ? job.validation.whole : job.source, setting, comm);
  setting.subset = nullptr;
  feeding::Staged test, validation;
  job.source = train.dataset;
  if (job.test_source) {
    setting.evaluation = true;
    setting.region = region_read(job, job.test_source, part, true);
    test = job.staging->stage(job.test_spec, job.test_source, setting, comm);
    job.test_source = test.dataset;
  }
  if (Validation& set = job.validation; set.source) {
    setting.evaluation = true;
    setting.region = region_read(job, set.source, part, true);
    setting.subset = set.part_kept_apart();
    validation = set.is_share() ? job.staging->stage(job.train_spec, set.whole, setting, comm)
                                : job.staging->stage(set.spec, set.source, setting, comm);
    set.source = validation.dataset;
  }
  // What is learned is learned from all samples that are trained on, near or not.
  const bool near = train.all_readable && !train.own_samples && part.alone();
  learn(job, near ? *job.source : *original, learned_file, comm);
  apply_transforms(job);
  std::shared_ptr<const datasets::Dataset> whole_test_data = job.test_data;
  if (original_test && !part.alone()) whole_test_data = with_transforms(job, original_test);
  const auto counters = [train = train.counters, test = test.counters, validation = validation.counters] {
    feeding::StagingCounters all;
    for (const auto& [name, value] : train()) all.emplace_back("train." + name, value);
    for (const auto& [name, value] : test()) all.emplace_back("test." + name, value);
    for (const auto& [name, value] : validation()) all.emplace_back("validation." + name, value);
    return all;
  };
  return {counters, train.own_samples, train.all_readable, whole_test_data};
}

static ReportOptions read_report_options(Args& args, bool validates) {
  ReportOptions options;
  options.page = args.flag("page", true);
  options.pictures = args.flag("pictures", true);
  options.trace_steps = args.integer("trace_steps", 24);
  options.trace_mb = args.integer("trace_mb", 64);
  options.tensorboard = args.flag("tensorboard", true);
  options.images = args.integer("images", 4);
  options.histograms = args.integer("histograms", 0);
  options.target = args.text("target", "");
  if (!options.target.empty()) {
    const Target target = read_target(options.target);
    expect_judged(target.metric, validates, "report.target");
  }
  const std::int64_t year = args.integer("processor_year", 0);
  args.require(year == 0 || (year >= 1970 && year <= 2100), "processor_year must be 1970 to 2100; 0: not known");
  options.processor_year = static_cast<int>(year);
  options.mlperf = args.flag("mlperf", false);
  options.mlperf_organization = args.text("mlperf_organization", "");
  options.mlperf_platform = args.text("mlperf_platform", "");
  options.mlperf_division = args.one_of("mlperf_division", "open", {"closed", "open"});
  options.mlperf_status = args.one_of("mlperf_status", "onprem", {"cloud", "onprem", "preview", "research"});
  args.require(options.trace_steps >= 0 && options.trace_steps <= 100'000, "trace_steps must be 0 to 100000");
  args.require(options.trace_mb >= 1 && options.trace_mb <= 100'000, "trace_mb must be 1 to 100000");
  args.require(options.images >= 0 && options.images <= 64, "images must be 0 to 64");
  args.require(options.histograms >= 0, "histograms must be >= 0; 0: none");
  args.finish();
  return options;
}

static SaveOptions read_save_options(Args& args, bool evaluates, bool validates) {
  SaveOptions options;
  options.every_epochs = args.integer("every_epochs", 0);
  options.every_steps = args.integer("every_steps", 0);
  options.every_minutes = args.real("every_minutes", 10);
  options.best = args.text("best", "");
  options.keep = args.integer("keep", 2);
  options.background = args.flag("background", true);
  args.require(options.every_epochs >= 0 && options.every_steps >= 0 && options.every_minutes >= 0,
               "every_epochs, every_steps and every_minutes must be >= 0; 0: not by these");
  args.require(options.keep >= 1 && options.keep <= 1'000'000, "keep must be 1 to 1000000");
  args.require(options.best.empty() || evaluates,
               "best needs data.validation or data.test: what is best is judged there");
  expect_judged(options.best, validates, "checkpoint.best");
  options.best = judged_name(options.best);
  args.finish();
  return options;
}

// How often the test set is only reported, and what depends on evaluations. Runs without these keys keep their recipes.
static void read_judging(Args& train, Job& job, bool evaluates) {
  train.require(job.validation.exists() || !train.has("test_every"),
                "test_every needs data.validation: without it the test set is judged every evaluate_every epochs");
  if (job.validation.exists()) job.test_every = train.integer("test_every", 0);
  if (train.has("patience")) job.patience = train.integer("patience", 0);
  train.require(job.test_every >= 0, "test_every must be >= 0; 0: only at the end");
  train.require(job.patience >= 0, "patience must be >= 0; 0: the run never ends early");
  train.require(job.patience == 0 || (evaluates && job.evaluate_every > 0),
                "patience needs data.validation or data.test, evaluated every so many epochs (evaluate_every)");
  if (job.rate->follows_losses() && !(evaluates && job.evaluate_every > 0))
    fail_usage(
        "rate = 'plateau(...)' follows the loss of evaluations: it needs data.validation or data.test, and "
        "train.evaluate_every >= 1");
}

Job read_job(const Spec& recipe, const std::string& name, Model model, datasets::Survey& survey) {
  Job job;
  Args root(recipe, "recipe");
  job.model = std::move(model);
  root.record("model", job.model.resolved);
  root.record("loss", job.model.loss);
  job.optimizer = read_member(root, "optimizer", "adam", optim::optimizers(), "optimizer");
  job.rate = read_member(root, "rate", "constant", optim::rate_schedules(), "rate schedule");
  parallel::Composition composition = parallel::read_composition(root);
  job.seed = static_cast<std::uint64_t>(root.integer("seed", 1));
  job.folder = root.text("folder", "runs/" + name);

  Args data = root.section("data");
  job.train_spec = data.spec("train", "universe");
  job.source = read_dataset(data, "train", job.train_spec, survey);
  if (data.has("test")) {
    job.test_spec = data.spec("test");
    job.test_source = read_dataset(data, "test", job.test_spec, survey);
  }
  if (data.has("validation")) {
    job.validation = read_validation(recipe, data, job.source, survey);
    if (job.validation.is_share()) job.source = job.validation.part_trained_on()(job.source);
  }
  apply_transforms(job);
  read_transforms(data, job);
  job.staging = read_member(data, "staging", "none", feeding::stagings(), "staging");
  job.on_bad =
      data.one_of("bad_samples", "fail", {"fail", "skip"}) == "skip" ? feeding::OnBad::skip : feeding::OnBad::fail;
  job.batch_per_rank = data.integer("batch_per_rank", 0);
  job.batch = data.integer("batch", job.batch_per_rank > 0 ? 0 : 4);
  job.shuffle = data.flag("shuffle", true);
  job.readers = static_cast<int>(data.integer("readers", 1));
  job.ahead = static_cast<int>(data.integer("ahead", 2));
  data.require(job.batch >= (job.batch_per_rank > 0 ? 0 : 1), "batch must be at least 1");
  data.require(job.batch_per_rank >= 0, "batch_per_rank must be >= 0");
  data.require(job.batch == 0 || job.batch_per_rank == 0,
               "either batch, of all ranks together, or batch_per_rank; the other is 0");
  data.require(job.readers >= 1 && job.readers <= 256, "readers must be 1 to 256");
  data.require(job.ahead >= 1 && job.ahead <= 64, "ahead must be 1 to 64");
  data.finish();
  expect_like_training(job, job.test_data, "data.test");
  expect_like_training(job, job.validation.data, "data.validation");
  const bool evaluates = job.test_data || job.validation.data;

  Args train = root.section("train");
  job.epochs = train.integer("epochs", 10);
  job.evaluate_every = train.integer("evaluate_every", 1);
  read_judging(train, job, evaluates);
  job.micro_batches = train.integer("micro_batches", 0);
  job.deterministic = train.flag("deterministic", false);
  job.clip_norm = train.real("clip_norm", 0);
  job.sync_batch_norm = train.flag("sync_batch_norm", false);
  const std::string memory = train.text("memory", "");
  if (!memory.empty()) job.memory_limit = read_bytes(memory, "train.memory");
  job.tuned = train.flag("tuned", true);
  job.numbers = read_bad_numbers(train);
  job.ramp = read_member(train, "batch_ramp", "constant", optim::batch_ramps(), "batch ramp");
  train.require(job.micro_batches >= 0, "micro_batches must be >= 0; 0: one for each rank");
  train.require(job.clip_norm >= 0, "clip_norm must be >= 0; 0: none");
  train.require(!job.deterministic || job.on_bad == feeding::OnBad::fail,
                "deterministic needs data.bad_samples = 'fail': samples that are left out move others to other ranks");
  train.require(!job.sync_batch_norm || job.on_bad == feeding::OnBad::fail,
                "sync_batch_norm needs data.bad_samples = 'fail': every rank must have samples in every step");
  train.require(!(job.sync_batch_norm && job.deterministic),
                "deterministic cannot have sync_batch_norm: what is normalised together depends on the ranks");
  train.require(job.epochs >= 1, "epochs must be at least 1");
  train.require(job.evaluate_every >= 0, "evaluate_every must be >= 0; 0: only at the end");
  if (job.deterministic) composition.strategy.set("deterministic", true);
  job.split = make(split::splits(), composition.split, "split", &composition.split);
  train.require(!job.deterministic || job.split->ways() == 1,
                "deterministic needs parallel.split = 'none': parts of a sum add up to other bits than the whole");
  job.strategy = make(parallel::strategies(), composition.strategy, "strategy", &composition.strategy);
  if (job.strategy->traits().by_layer) parallel::tell_layers(*job.strategy, job.model.graph(1));
  parallel::record_composition(root, composition);
  job.limits = limits_of(*job.strategy);
  for (const std::string& metric : train.texts("metrics", metrics::default_metrics(job.model.loss)))
    job.metrics.push_back(make(metrics::metrics(), Spec(metric), "metric"));
  train.finish();
  Args checkpoint = root.section("checkpoint");
  job.saving = read_save_options(checkpoint, evaluates, job.validation.exists());
  Args report = root.section("report");
  job.report = read_report_options(report, job.validation.exists());
  job.gradients_in_arena = job.strategy->traits().gradients_in_arena && job.report.histograms == 0;
  root.finish();

  if (job.model.target_names.empty()) job.model.target_names = job.train_data->classes();
  root.record("data", data.resolved());
  root.record("train", train.resolved());
  root.record("checkpoint", checkpoint.resolved());
  root.record("report", report.resolved());
  job.recipe = root.resolved();
  return job;
}

}  // namespace isobar::train
