// tensorboard: a run as TensorBoard shows it, in tensorboard/ of its folder: scalars of steps and epochs, the recipe,
// samples of the test set, histograms of weights. A resumed run begins a new file that replaces the repeated steps.
#include <algorithm>
#include <optional>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/event_file.hpp"
#include "isobar/pictures/sample_images.hpp"
#include "isobar/record/sinks.hpp"
#include "isobar/record/weight_histograms.hpp"

namespace isobar::record {
namespace {

constexpr double seconds_between = 0.2;

/// Steps since the last one written: speeds are means over them, so that no step is lost.
struct Stretch {
  double samples = 0, seconds = 0, wait_seconds = 0, exchange_seconds = 0, steps = 0;

  void add(const train::StepDone& step) {
    samples += static_cast<double>(step.samples);
    seconds += step.seconds;
    wait_seconds += step.wait_seconds;
    exchange_seconds += step.exchange_seconds;
    steps += 1;
  }
};

std::string indented(const std::string& text) {
  std::string code = "    ";
  for (const char c : text) code += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return code;
}

std::string facts(const train::Start& start) {
  std::string text = fmt::format("{} parameters, {} per sample; {} training samples, {} for testing; threads: {}",
                                 with_commas(start.parameters), human_flops(start.flops_per_sample),
                                 with_commas(start.train_samples), with_commas(start.test_samples), start.threads);
  if (!start.batching.empty()) text += "; " + start.batching;
  if (start.ranks > 1) text += "; " + start.strategy;
  return text + "\n\n";
}

class TensorBoard final : public train::Sink {
 public:
  explicit TensorBoard(const train::ReportOptions& options)
      : images_(options.images), histograms_(options.histograms) {}

  void start(const train::Start& start) override {
    start_ = start;
    file_.emplace(start.folder / "tensorboard");
    if (start.first_step > 0) file_->restart(start.first_step + 1);
    files::EventSummary summary;
    summary.text("recipe/text_summary", facts(start) + indented(write_recipe(start.recipe)));
    file_->write(start.first_step, summary);
  }

  void step(const train::StepDone& step) override {
    last_ = step;
    stretch_.add(step);
    if (first_ || stretch_.seconds >= seconds_between) write_steps();
  }

  void epoch(const train::EpochDone& epoch) override {
    write_steps();
    files::EventSummary summary;
    summary.scalar("train/epoch_loss", epoch.train_loss);
    summary.scalar("train/epoch", static_cast<double>(epoch.epoch));
    // A confusion matrix is not a curve; it is in metrics.jsonl.
    for (const auto& [name, value] : epoch.test)
      if (!name.starts_with("confusion.")) summary.scalar("test/" + name, value);
    for (const auto& [name, value] : epoch.validation)
      if (!name.starts_with("confusion.")) summary.scalar("validation/" + name, value);
    summary.scalar("speed/epoch_train_seconds", epoch.train_seconds);
    if (epoch.test_seconds > 0) summary.scalar("speed/epoch_test_seconds", epoch.test_seconds);
    if (histograms_ > 0 && start_.store && epoch.epoch % histograms_ == 0)
      add_weight_histograms(summary, *start_.store);
    file_->write(epoch.step, summary);
    if (images_ > 0 && epoch.viewer && !epoch.test.empty()) write_samples(*epoch.viewer, epoch.step);
  }

  void end(const train::End&) override {
    write_steps();
    file_->close();
  }

 private:
  void write_steps() {
    if (stretch_.steps == 0) return;
    first_ = false;
    files::EventSummary summary;
    summary.scalar("train/loss", last_.loss);
    summary.scalar("train/learning_rate", last_.learning_rate);
    summary.scalar("speed/step_seconds", stretch_.seconds / stretch_.steps);
    if (stretch_.seconds > 0) {
      const double samples_per_second = stretch_.samples / stretch_.seconds;
      summary.scalar("speed/samples_per_second", samples_per_second);
      summary.scalar("speed/gigaflops_per_second", samples_per_second * start_.flops_per_sample / 1e9);
      summary.scalar("speed/share_waiting_for_input", stretch_.wait_seconds / stretch_.seconds);
      if (start_.ranks > 1)
        summary.scalar("speed/share_waiting_for_ranks", stretch_.exchange_seconds / stretch_.seconds);
    }
    file_->write(last_.step, summary);
    stretch_ = {};
  }

  // Samples spread over the test set, since neighbours are often similar; always the same ones.
  void write_samples(train::Viewer& viewer, std::int64_t step) {
    const std::int64_t size = viewer.dataset().size(), count = std::min(images_, size);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t sample = i * (size / count);
      train::View view;
      try {
        view = viewer.look(sample);
      } catch (const Error&) {
        continue;  // a bad sample: the evaluation has reported it if these are allowed
      }
      files::EventSummary summary;
      for (const pictures::NamedImage& drawn : pictures::sample_images(view, viewer.dataset().channels()))
        if (drawn.name == "prediction" || !inputs_shown_)
          summary.image(fmt::format("sample_{}/{}", sample, drawn.name), drawn.image);
      if (const std::string table = pictures::sample_table(view, viewer.dataset().classes()); !table.empty())
        summary.text(fmt::format("sample_{}/text_summary", sample), table);
      file_->write(step, summary);
    }
    inputs_shown_ = true;
  }

  std::int64_t images_, histograms_;
  train::Start start_;
  std::optional<files::EventFile> file_;
  train::StepDone last_;
  Stretch stretch_;
  bool first_ = true;
  bool inputs_shown_ = false;  // inputs and targets are the same after every epoch
};

}  // namespace

std::unique_ptr<train::Sink> tensorboard(const train::ReportOptions& options) {
  return std::make_unique<TensorBoard>(options);
}

}  // namespace isobar::record
