// What a run writes for TensorBoard, read by the tests' own reader.
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/disk/text_file.hpp"
#include "isobar/files/image.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"
#include "tests/event_reader.hpp"
#include "tests/train/small_job.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
namespace fs = std::filesystem;

// In the order in which TensorBoard reads them.
std::vector<fs::path> files_of(const fs::path& run) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(run / "tensorboard")) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

std::vector<SeenEvent> events_of(const fs::path& run) {
  disk::flush_late_files();
  const std::vector<fs::path> files = files_of(run);
  EXPECT_EQ(files.size(), 1u);
  return read_events(files.at(0));
}

// Values of one kind in metrics.jsonl, by step, as floats.
std::map<std::int64_t, float> metric(const fs::path& run, const std::string& kind, const std::string& pointer) {
  std::map<std::int64_t, float> found;
  std::istringstream lines(text_of(run / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json object = nlohmann::json::parse(line);
    if (object["kind"] == kind) found[object["step"]] = object.at(nlohmann::json::json_pointer(pointer)).get<float>();
  }
  return found;
}

std::map<std::int64_t, float> scalars(const std::vector<SeenEvent>& events, const std::string& tag) {
  std::map<std::int64_t, float> found;
  for (const auto& [step, value] : values_of(events, tag)) found[step] = value.scalar.value();
  return found;
}

train::Start start_in(const fs::path& folder, std::int64_t first_step = 0) {
  train::Start start;
  start.recipe = parse_recipe("seed = 5\n[data]\nbatch = 4\n", "test");
  start.folder = folder;
  start.first_step = first_step;
  start.flops_per_sample = 3e9;
  return start;
}

train::StepDone step_done(std::int64_t step, double seconds) {
  train::StepDone done{step, 1, step, 8, 1.0 / static_cast<double>(3 * step), 1e-3, seconds};
  done.wait_seconds = seconds / 4;
  done.exchange_seconds = seconds / 8;
  return done;
}

TEST(TensorBoard, SlowStepsAreAllThereFastOnesFiveTimesASecond) {
  const TemporaryFolder folder;
  const auto sink = tensorboard({});
  train::Start start = start_in(folder.path());
  start.ranks = 2;
  sink->start(start);
  for (std::int64_t step = 1; step <= 4; ++step) sink->step(step_done(step, 0.5));
  for (std::int64_t step = 5; step <= 1004; ++step) sink->step(step_done(step, 0.0078125));  // 26 of them last 0.2 s
  const std::vector<SeenEvent> running = events_of(folder.path());  // what a run killed now would leave
  sink->epoch({1, 1004, 0.25});
  sink->end({});

  std::map<std::int64_t, float> expected;
  for (const std::int64_t step : {1, 2, 3, 4}) expected[step] = static_cast<float>(step_done(step, 0).loss);
  for (std::int64_t step = 4 + 26; step <= 1004; step += 26)
    expected[step] = static_cast<float>(step_done(step, 0).loss);
  EXPECT_EQ(scalars(running, "train/loss"), expected);
  expected[1004] = static_cast<float>(step_done(1004, 0).loss);  // the last step of an epoch is always written
  const std::vector<SeenEvent> events = events_of(folder.path());
  EXPECT_EQ(scalars(events, "train/loss"), expected);
  EXPECT_EQ(scalars(events, "train/learning_rate").at(4), 1e-3f);
  EXPECT_EQ(scalars(events, "speed/samples_per_second").at(4), 16);
  EXPECT_EQ(scalars(events, "speed/samples_per_second").at(30), 1024);
  EXPECT_EQ(scalars(events, "speed/gigaflops_per_second").at(30), 3072);
  EXPECT_EQ(scalars(events, "speed/step_seconds").at(30), 0.0078125f);
  EXPECT_EQ(scalars(events, "speed/share_waiting_for_input").at(30), 0.25f);
  EXPECT_EQ(scalars(events, "speed/share_waiting_for_ranks").at(30), 0.125f);
  EXPECT_EQ(scalars(events, "train/epoch_loss"), (std::map<std::int64_t, float>{{1004, 0.25f}}));
}

TEST(TensorBoard, StepsOfNoTimeHaveNoSpeed) {
  const TemporaryFolder folder;
  const auto sink = tensorboard({});
  sink->start(start_in(folder.path()));
  sink->step(step_done(1, 0));
  sink->step(step_done(2, 0));
  sink->end({});
  const std::vector<SeenEvent> events = events_of(folder.path());
  EXPECT_EQ(scalars(events, "train/loss").size(), 2u);
  EXPECT_TRUE(scalars(events, "speed/samples_per_second").empty());
}

TEST(TensorBoard, ResumedRunTakesBackWhatIsDoneAgain) {
  const TemporaryFolder folder;
  const auto run = [&](std::int64_t first, std::int64_t last) {
    const auto sink = tensorboard({});
    sink->start(start_in(folder.path(), first));
    for (std::int64_t step = first + 1; step <= last; ++step) sink->step(step_done(step, 1));
  };
  run(0, 6);
  run(4, 8);
  run(4, 9);  // within a second of the others
  const std::vector<fs::path> files = files_of(folder.path());
  ASSERT_EQ(files.size(), 3u);
  // As in TensorBoard, a START drops this step and later ones.
  std::vector<std::int64_t> steps;
  for (const fs::path& file : files) {
    const std::vector<SeenEvent> events = read_events(file);
    EXPECT_EQ(events.at(0).version, "brain.Event:2");
    for (const SeenEvent& event : events) {
      if (event.session == 1u) std::erase_if(steps, [&](std::int64_t step) { return step >= event.step; });
      for (const SeenValue& value : event.values)
        if (value.tag == "train/loss") steps.push_back(event.step);
    }
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(TensorBoard, TellsTheRecipeAndNoMatrixOfClasses) {
  const TemporaryFolder folder;
  const auto sink = tensorboard({});
  sink->start(start_in(folder.path()));
  sink->epoch({1, 4, 0.5, {{"accuracy", 0.75}, {"confusion.a.b", 3}, {"iou.cyclone", 0.5}, {"loss", 2}}});
  const std::vector<SeenEvent> events = events_of(folder.path());
  const SeenValue recipe = values_of(events, "recipe/text_summary").at(0);
  EXPECT_EQ(recipe.plugin, "text");
  EXPECT_NE(recipe.text->find("\n\n    seed = 5\n"), std::string::npos) << *recipe.text;
  EXPECT_NE(recipe.text->find("\n    batch = 4\n"), std::string::npos) << *recipe.text;
  EXPECT_EQ(scalars(events, "test/accuracy").at(4), 0.75f);
  EXPECT_EQ(scalars(events, "test/iou.cyclone").at(4), 0.5f);
  EXPECT_EQ(scalars(events, "test/loss").at(4), 2);
  EXPECT_TRUE(scalars(events, "test/confusion.a.b").empty());
}

TEST(TensorBoard, FolderThatCannotBeMadeIsAnError) {
  const TemporaryFolder folder;
  disk::write_text(folder / "tensorboard", "a file");
  const auto sink = tensorboard({});
  EXPECT_THROW(sink->start(start_in(folder.path())), Error);
}

// The weights after each epoch, for comparison with histograms.
class Witness final : public train::Sink {
 public:
  void start(const train::Start& start) override { store_ = start.store; }
  void epoch(const train::EpochDone& epoch) override {
    for (int p = 0; p < store_->count(); ++p) {
      std::vector<float> plain(static_cast<std::size_t>(store_->parameter(p).declared.shape.count()));
      store_->read_plain(p, store_->weight(p), plain);
      weights["weights/" + store_->parameter(p).name][epoch.step] = plain;
      store_->read_plain(p, store_->gradient(p), plain);
      if (store_->parameter(p).declared.trained) weights["gradients/" + store_->parameter(p).name][epoch.step] = plain;
    }
  }
  std::map<std::string, std::map<std::int64_t, std::vector<float>>> weights;

 private:
  const exec::ParamStore* store_ = nullptr;
};

TEST(TensorBoard, WholeRunAgreesWithItsMetricsWeightsAndSamples) {
  const TemporaryFolder folder;
  const fs::path run = folder / "run";
  train::ReportOptions options;
  options.images = 3;
  options.histograms = 2;
  const auto metrics = json_lines(), sink = tensorboard(options);
  Witness witness;
  train::Trainer trainer(train::small_job(run, {"train.epochs=4"}), {metrics.get(), sink.get(), &witness});
  trainer.run();
  const std::vector<SeenEvent> events = events_of(run);

  const std::map<std::int64_t, float> losses = metric(run, "step", "/loss");
  const std::map<std::int64_t, float> shown = scalars(events, "train/loss");
  for (const std::int64_t step : {1, 5, 10, 15, 20}) EXPECT_TRUE(shown.contains(step)) << step;
  for (const auto& [step, loss] : shown) EXPECT_EQ(loss, losses.at(step)) << step;
  EXPECT_EQ(scalars(events, "train/epoch_loss"), metric(run, "epoch", "/train_loss"));
  EXPECT_EQ(scalars(events, "test/loss"), metric(run, "epoch", "/test/loss"));
  EXPECT_EQ(scalars(events, "test/loss").size(), 4u);

  ASSERT_FALSE(witness.weights.empty());
  for (const auto& [tag, by_step] : witness.weights) {
    SCOPED_TRACE(tag);
    const auto histograms = values_of(events, tag);
    ASSERT_EQ(histograms.size(), 2u);  // of four epochs
    for (const auto& [step, value] : histograms) {
      const SeenHistogram& seen = value.histogram.value();
      const std::vector<float>& numbers = by_step.at(step);
      double sum = 0, squares = 0, counted = 0;
      for (const float number : numbers) sum += number, squares += static_cast<double>(number) * number;
      for (const double count : seen.counts) counted += count;
      EXPECT_EQ(seen.count, static_cast<double>(numbers.size()));
      EXPECT_EQ(counted, seen.count);
      EXPECT_NEAR(seen.sum, sum, 1e-9);
      EXPECT_NEAR(seen.sum_of_squares, squares, 1e-9);
      EXPECT_EQ(seen.min, std::ranges::min(numbers));
      EXPECT_EQ(seen.max, std::ranges::max(numbers));
      EXPECT_TRUE(std::ranges::is_sorted(seen.limits));
      EXPECT_EQ(seen.limits.back(), seen.max);
    }
  }

  for (const std::int64_t sample : {0, 3, 6}) {  // of ten
    const auto pictures = values_of(events, fmt::format("sample_{}/input", sample));
    ASSERT_EQ(pictures.size(), 1u);  // it is the same after every epoch
    const SeenImage& picture = pictures.begin()->second.image.value();
    files::Image decoded;
    files::decode_image({reinterpret_cast<const std::uint8_t*>(picture.file.data()), picture.file.size()}, {}, decoded);
    EXPECT_EQ(decoded.height, static_cast<std::int64_t>(picture.height));
    EXPECT_EQ(decoded.width, static_cast<std::int64_t>(picture.width));
    const auto tables = values_of(events, fmt::format("sample_{}/text_summary", sample));
    EXPECT_EQ(tables.size(), 4u);
    EXPECT_TRUE(tables.begin()->second.text->starts_with("| | target | prediction |\n|---|---|---|\n| 0 | "));
  }
}

TEST(TensorBoard, OfARunThatIsReplacedNothingIsLeft) {
  const TemporaryFolder folder;
  const fs::path run = folder / "run";
  const auto train_once = [&](std::vector<train::Sink*> sinks) {
    train::Job job = train::small_job(run, {"train.epochs=1"});
    job.overwrite = true;
    train::Trainer(std::move(job), std::move(sinks)).run();
  };
  const auto first = tensorboard({}), second = tensorboard({});
  train_once({first.get()});
  train_once({second.get()});
  EXPECT_EQ(files_of(run).size(), 1u);
  train_once({});
  EXPECT_FALSE(fs::exists(run / "tensorboard"));
}

}  // namespace
}  // namespace isobar::record
