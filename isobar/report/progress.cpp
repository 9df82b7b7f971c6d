#include "isobar/report/progress.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/report/rate.hpp"

namespace isobar::report {
namespace {

// A text value without the quotes it is written with.
std::string shown(const Spec& recipe, std::string_view key) {
  const Value* value = recipe.find(key);
  if (!value) return "network";
  if (const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value->held); spec && value->quoted)
    return (*spec)->name();
  return value->str();
}

std::string results(const std::map<std::string, double>& test) {
  std::string text;
  if (const auto loss = test.find("loss"); loss != test.end()) text += fmt::format("  test loss {:.4g}", loss->second);
  // A matrix of classes fills no line; it is in the files of the run.
  for (const auto& [name, value] : test)
    if (name != "loss" && !name.starts_with("confusion.")) text += fmt::format("  {} {:.4g}", name, value);
  return text;
}

// Short times with a digit more: an epoch of a small set may take less than a second.
std::string duration(double seconds) {
  return seconds < 9.95 ? fmt::format("{:.1f} s", seconds) : human_seconds(seconds);
}

std::string speed(double samples_per_second, double flops_per_sample) {
  std::string text = samples_per_second < 999.5 ? fmt::format("{:.3g} samples/s", samples_per_second)
                                                : with_commas(std::llround(samples_per_second)) + " samples/s";
  if (flops_per_sample > 0) text += fmt::format("  {}/s", human_flops(samples_per_second * flops_per_sample));
  return text;
}

class Progress final : public train::Sink {
 public:
  Progress(Screen screen, bool quiet) : line_(std::move(screen)), quiet_(quiet) {}

  void start(const train::Start& start) override {
    start_ = start;
    if (quiet_) return;
    line_.print(fmt::format("{}: {} parameters", shown(start.recipe, "model"), with_commas(start.parameters)));
    std::string data = fmt::format("{} training samples", with_commas(start.train_samples));
    if (start.test_samples > 0) data += fmt::format(", {} for testing", with_commas(start.test_samples));
    line_.print(
        fmt::format("{}; {} epochs of {} steps", data, with_commas(start.epochs), with_commas(start.steps_per_epoch)));
    line_.print(fmt::format("memory: {} for activations, {} for weights, gradients and optimizer; {} thread{}",
                            human_bytes(static_cast<double>(start.arena_bytes)),
                            human_bytes(static_cast<double>(start.weight_bytes)), start.threads,
                            start.threads == 1 ? "" : "s"));
    if (start.ranks > 1) {
      line_.print(fmt::format("{} ranks on {} node{}, {}", start.ranks, start.nodes, start.nodes == 1 ? "" : "s",
                              start.placement.empty() ? "not bound" : start.placement));
      line_.print(fmt::format("{}; {}", start.batching, start.strategy));
    }
    if (start.first_step > 0)
      line_.print(fmt::format("resumed after step {} of {}", with_commas(start.first_step), with_commas(all_steps())));
  }

  void step(const train::StepDone& step) override {
    rate_.add(step.samples, step.seconds, step.wait_seconds, step.exchange_seconds);
    samples_ += step.samples;
    loss_sum_ += step.loss * static_cast<double>(step.samples);
    if (quiet_ || !line_.due()) return;
    const double loss = samples_ > 0 ? loss_sum_ / static_cast<double>(samples_) : step.loss;
    const std::string exchange =
        start_.ranks > 1 ? fmt::format("  {} ranks, exchange {:.0f} %", start_.ranks, 100 * rate_.exchanging()) : "";
    line_.show(fmt::format("epoch {}/{} {} step {}/{}  loss {:.4g}  {}  wait {:.0f} %{}  left {}", step.epoch,
                           start_.epochs, bar(done(step), static_cast<double>(all_steps()), 16), step.step_in_epoch,
                           start_.steps_per_epoch, loss, speed(rate_.samples_per_second(), start_.flops_per_sample),
                           100 * rate_.waiting(), exchange, human_seconds(seconds_left(step))));
  }

  void epoch(const train::EpochDone& epoch) override {
    const double rate = epoch.train_seconds > 0 ? static_cast<double>(samples_) / epoch.train_seconds : 0;
    test_seconds_ = epoch.test_seconds;
    samples_ = 0;
    loss_sum_ = 0;
    if (quiet_) return;
    const auto width = std::to_string(start_.epochs).size();
    line_.print(fmt::format("epoch {:>{}}/{}  {}  {}  train loss {:.4g}{}", epoch.epoch, width, start_.epochs,
                            duration(epoch.train_seconds + epoch.test_seconds), speed(rate, start_.flops_per_sample),
                            epoch.train_loss, results(epoch.test)));
  }

  void checkpoint(const train::CheckpointDone& done) override { checkpoint_ = done; }

  void end(const train::End& end) override {
    if (quiet_) return;
    if (end.reason == train::End::Reason::finished)
      line_.print(
          fmt::format("finished {} steps in {}{}", with_commas(end.steps), duration(end.seconds), results(end.test)));
    else
      line_.print(fmt::format("interrupted after {} of {} steps, {}", with_commas(end.steps), with_commas(all_steps()),
                              duration(end.seconds)));
    if (end.skipped && *end.skipped > 0)
      line_.print(fmt::format("{} bad samples were skipped, the first: {}", with_commas(*end.skipped),
                              end.first_skipped.empty() ? "" : end.first_skipped[0]));
    std::string where = fmt::format("the run is in {}", start_.folder.string());
    if (!checkpoint_.file.empty())
      where +=
          fmt::format(", its weights in {} ({})", checkpoint_.file.filename().string(), human_bytes(checkpoint_.bytes));
    if (!start_.folder.empty()) line_.print(where);
  }

 private:
  std::int64_t all_steps() const { return start_.epochs * start_.steps_per_epoch; }

  // In batches: a step may take several of them.
  double done(const train::StepDone& step) const {
    return static_cast<double>((step.epoch - 1) * start_.steps_per_epoch + step.step_in_epoch);
  }

  // The evaluations to come are expected to take as long as the last one.
  double seconds_left(const train::StepDone& step) const {
    return (static_cast<double>(all_steps()) - done(step)) * rate_.seconds_per_step() +
           static_cast<double>(start_.epochs - step.epoch + 1) * test_seconds_;
  }

  StatusLine line_;
  bool quiet_;
  train::Start start_;
  Rate rate_;
  std::int64_t samples_ = 0;  // of the epoch under way
  double loss_sum_ = 0;       // over those
  double test_seconds_ = 0;
  train::CheckpointDone checkpoint_{};
};

}  // namespace

std::unique_ptr<train::Sink> progress(Screen screen, bool quiet) {
  return std::make_unique<Progress>(std::move(screen), quiet);
}

std::unique_ptr<train::Sink> progress(std::FILE* out, bool quiet) { return progress(Screen::of(out), quiet); }

}  // namespace isobar::report
