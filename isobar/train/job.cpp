#include "isobar/train/job.hpp"

#include "isobar/base/text.hpp"

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

void apply_transforms(Job& job) {
  job.train_data = job.source;
  job.test_data = job.test_source;
  if (!job.pipeline) return;
  job.train_data = std::make_shared<transforms::Transformed>(job.source, job.pipeline);
  if (job.test_source) job.test_data = std::make_shared<transforms::Transformed>(job.test_source, job.pipeline);
}

void read_transforms(Args& data, Job& job) {
  const std::vector<std::string> specs = data.texts("transforms", {});
  if (specs.empty()) return;
  std::vector<std::string> resolved;
  job.pipeline = std::make_shared<transforms::Pipeline>(specs, &resolved);
  data.record("transforms", std::vector<Value>(resolved.begin(), resolved.end()));
  if (job.test_data && job.pipeline->learns()) {
    const Shape train = job.source->fields()[0].shape, test = job.test_data->fields()[0].shape;
    if (train != test)
      fail("data.train has samples of {}, data.test of {}: what is learned from the one does not fit the other",
           train.str(), test.str());
  }
  apply_transforms(job);
}

}  // namespace

std::function<data::StagingCounters()> stage_data(Job& job, comm::Comm& comm) {
  data::StagingSetting setting{.readers = job.readers, .keep_bad = job.on_bad == data::OnBad::skip};
  const data::Staged train = job.staging->stage(job.train_spec, job.source, setting, comm);
  data::Staged test;
  job.source = train.dataset;
  if (job.test_source) {
    setting.evaluation = true;
    test = job.staging->stage(job.test_spec, job.test_source, setting, comm);
    job.test_source = test.dataset;
  }
  apply_transforms(job);
  return [train = train.counters, test = test.counters] {
    data::StagingCounters all;
    for (const auto& [name, value] : train()) all.emplace_back("train." + name, value);
    for (const auto& [name, value] : test()) all.emplace_back("test." + name, value);
    return all;
  };
}

Job read_job(const Spec& recipe, const std::string& name, const ModelMaker& make_model) {
  Job job;
  Args root(recipe, "recipe");
  const Spec model = root.spec("model");
  const Spec loss = root.has("loss") ? root.spec("loss") : Spec();
  root.record("loss", loss);  // what is in force follows below, once the model is known
  job.optimizer = read_member(root, "optimizer", "adam", optim::optimizers(), "optimizer");
  job.rate = read_member(root, "rate", "constant", optim::rate_schedules(), "rate schedule");
  job.strategy = read_member(root, "strategy", "solo", parallel::strategies(), "strategy");
  job.seed = static_cast<std::uint64_t>(root.integer("seed", 1));
  job.folder = root.text("folder", "runs/" + name);

  Args data = root.section("data");
  job.train_spec = data.spec("train", "universe");
  job.source = read_member(data, "train", "universe", data::datasets(), "dataset");
  if (data.has("test")) {
    job.test_spec = data.spec("test");
    job.test_source = read_member(data, "test", "universe", data::datasets(), "dataset");
  }
  apply_transforms(job);
  read_transforms(data, job);
  job.staging = read_member(data, "staging", "none", data::stagings(), "staging");
  job.on_bad = data.one_of("bad_samples", "fail", {"fail", "skip"}) == "skip" ? data::OnBad::skip : data::OnBad::fail;
  job.batch = data.integer("batch", 4);
  job.shuffle = data.flag("shuffle", true);
  job.readers = static_cast<int>(data.integer("readers", 1));
  job.ahead = static_cast<int>(data.integer("ahead", 2));
  data.require(job.batch >= 1, "batch must be at least 1");
  data.require(job.readers >= 1 && job.readers <= 256, "readers must be 1 to 256");
  data.require(job.ahead >= 1 && job.ahead <= 64, "ahead must be 1 to 64");
  data.finish();
  if (job.test_data && job.test_data->classes() != job.train_data->classes())
    fail("data.train has the classes {}; data.test has {}: their numbers would mean different things",
         join(job.train_data->classes(), ", "), join(job.test_data->classes(), ", "));

  Args train = root.section("train");
  job.epochs = train.integer("epochs", 10);
  job.evaluate_every = train.integer("evaluate_every", 1);
  job.checkpoint_every = train.integer("checkpoint_every", 0);
  train.require(job.epochs >= 1, "epochs must be at least 1");
  train.require(job.evaluate_every >= 0 && job.checkpoint_every >= 0,
                "evaluate_every and checkpoint_every must be >= 0");
  job.model = make_model(model, loss);
  for (const std::string& metric : train.texts("metrics", default_metrics(job.model.loss)))
    job.metrics.push_back(make(metrics(), Spec(metric), "metric"));
  train.finish();
  root.finish();

  if (job.model.target_names.empty()) job.model.target_names = job.train_data->classes();
  root.record("model", job.model.resolved);
  root.record("loss", job.model.loss);
  root.record("data", data.resolved());
  root.record("train", train.resolved());
  job.recipe = root.resolved();
  return job;
}

}  // namespace isobar::train
