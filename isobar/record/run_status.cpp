#include "isobar/record/run_status.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/record/status_line.hpp"

namespace isobar::record {
namespace {

// A text value without its quotes.
std::string shown(const Spec& recipe, std::string_view key) {
  const Value* value = recipe.find(key);
  if (!value) return "network";
  if (const auto* spec = std::get_if<std::shared_ptr<const Spec>>(&value->held); spec && value->quoted)
    return (*spec)->name();
  return value->str();
}

std::string results(const std::map<std::string, double>& values, std::string_view set) {
  std::string text;
  if (const auto loss = values.find("loss"); loss != values.end())
    text += fmt::format("  {} loss {:.4g}", set, loss->second);
  // A confusion matrix does not fit into a line; it is in the files of the run.
  for (const auto& [name, value] : values)
    if (name != "loss" && !name.starts_with("confusion.")) text += fmt::format("  {} {:.4g}", name, value);
  return text;
}

// Short times with one more digit: an epoch of a small set may take less than a second.
std::string duration(double seconds) {
  return seconds < 9.95 ? fmt::format("{:.1f} s", seconds) : human_seconds(seconds);
}

std::string rate_text(double per_second) {
  return per_second < 999.5 ? fmt::format("{:.3g}", per_second) : with_commas(std::llround(per_second));
}

std::string percent(double part) { return fmt::format("{:.{}f}", 100 * part, part > 0 && part < 0.0995 ? 1 : 0); }

}  // namespace

/// A part of the line; those with the lowest weight are left out first.
struct RunStatus::Part {
  int weight;
  std::string text;
};

std::vector<std::string> RunStatus::start(const train::Start& start) {
  start_ = start;
  asked_.clear();
  if (start.recipe.find("train"))
    for (const std::string& metric : Args(start.recipe, "recipe").section("train").texts("metrics", {}))
      asked_.push_back(Spec(metric).name());
  if (!start.changes.empty()) return {start.changes.back().str()};
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {} parameters", shown(start.recipe, "model"), with_commas(start.parameters)));
  std::string data = fmt::format("{} training samples", with_commas(start.train_samples));
  if (start.validation_samples > 0) data += fmt::format(", {} for validation", with_commas(start.validation_samples));
  if (start.test_samples > 0) data += fmt::format(", {} for testing", with_commas(start.test_samples));
  lines.push_back(
      fmt::format("{}; {} epochs of {} steps", data, with_commas(start.epochs), with_commas(start.steps_per_epoch)));
  lines.push_back(fmt::format(
      "memory: {} for activations, {} for weights, gradients and optimizer, {} for checkpoints; {} thread{}",
      human_bytes(start.arena_bytes), human_bytes(start.weight_bytes), human_bytes(start.snapshot_bytes), start.threads,
      start.threads == 1 ? "" : "s"));
  if (start.plan && start.plan->again_steps() > 0)
    lines.push_back(fmt::format("to fit, {} steps of the forward pass are computed again: {} more work than {}",
                                start.plan->again_steps(), human_flops(start.plan->again_flops()),
                                human_flops(start.plan->flops())));
  if (start.tuned > 0)
    lines.push_back(fmt::format("tuned: {} kernels of convolutions as measured on this machine", start.tuned));
  if (start.good_state_bytes > 0)
    lines.push_back(
        fmt::format("{} more for states to go back to when numbers go bad", human_bytes(start.good_state_bytes)));
  if (start.ranks > 1) {
    lines.push_back(fmt::format("{} ranks on {} node{}, {}", start.ranks, start.nodes, start.nodes == 1 ? "" : "s",
                                start.placement.empty() ? "not bound" : start.placement));
    lines.push_back(fmt::format("{}; {}", start.batching, start.strategy));
    if (start.ways > 1) lines.push_back(fmt::format("one model over {} ranks; rank 0 has {}", start.ways, start.part));
  }
  if (start.first_step > 0)
    lines.push_back(
        fmt::format("resumed after step {} of {}", with_commas(start.first_step), with_commas(all_steps())));
  return lines;
}

void RunStatus::step(const train::StepDone& step) {
  last_ = step;
  if (step.bad.steps > 0) bad_ = step.bad;  // empty for runs followed through their files: those use bad_step()
  rate_.add(step);
  samples_ += step.samples;
  loss_sum_ += step.loss * static_cast<double>(step.samples);
}

std::string RunStatus::bad_step(const train::BadStep& bad) {
  bad_ = bad.bad;
  return fmt::format("step {}: {}; {}", with_commas(bad.step), bad.found,
                     bad.back_to ? fmt::format("back to the model of step {}, learning rate x {:.4g} from now on",
                                               with_commas(*bad.back_to), bad.bad.rate_scale)
                                 : "the step is skipped");
}

std::string RunStatus::epoch(const train::EpochDone& epoch) {
  const double rate = epoch.train_seconds > 0 ? static_cast<double>(samples_) / epoch.train_seconds : 0;
  test_seconds_ = epoch.test_seconds;
  // The progress line shows the set by which the run is judged.
  if (!epoch.validation.empty()) judged_ = epoch.validation, judged_set_ = "validation";
  else if (!epoch.test.empty() && judged_set_ != "validation") judged_ = epoch.test;
  samples_ = 0;
  loss_sum_ = 0;
  const auto width = std::to_string(start_.epochs).size();
  return fmt::format("epoch {:>{}}/{}  {}  {}  train loss {:.4g}{}", epoch.epoch, width, start_.epochs,
                     duration(epoch.train_seconds + epoch.test_seconds), speed(rate), epoch.train_loss,
                     results(epoch.validation, "validation") + results(epoch.test, "test"));
}

std::vector<std::string> RunStatus::end(const train::End& end) const {
  std::vector<std::string> lines;
  if (end.reason == train::End::Reason::finished)
    lines.push_back(fmt::format("finished {} steps in {}{}", with_commas(end.steps), duration(end.seconds),
                                results(end.test, "test")));
  else
    lines.push_back(fmt::format("interrupted after {} of {} steps, {}", with_commas(end.steps),
                                with_commas(all_steps()), duration(end.seconds)));
  if (end.skipped && *end.skipped > 0)
    lines.push_back(fmt::format("{} bad samples were skipped{}", with_commas(*end.skipped),
                                end.first_skipped.empty() ? "" : ", the first: " + end.first_skipped[0]));
  if (end.bad.steps > 0) lines.push_back(end.bad.str());
  if (!end.exchanged.empty()) lines.push_back(end.exchanged);
  std::string where = fmt::format("the run is in {}", start_.folder.string());
  if (!checkpoint_.file.empty())
    where += fmt::format(", its weights in checkpoints/{} ({})", checkpoint_.file.filename().string(),
                         human_bytes(checkpoint_.bytes));
  if (!start_.folder.empty()) lines.push_back(where);
  return lines;
}

std::string RunStatus::line(std::size_t columns) const {
  std::string text;
  for (const Form form : {Form::wide, Form::barless, Form::compact, Form::tight}) {
    std::vector<Part> all = parts(form);
    const bool last = form == Form::tight;
    do {
      text.clear();
      for (const Part& part : all) text += (text.empty() ? "" : form < Form::compact ? "  " : " ") + part.text;
      if (text.size() <= columns) return text;
      if (last) all.erase(std::ranges::min_element(all, {}, &Part::weight));
    } while (last && !all.empty());
  }
  return text.substr(0, columns);
}

std::vector<RunStatus::Part> RunStatus::parts(Form form) const {
  const bool wide = form < Form::compact;
  const double loss = samples_ > 0 ? loss_sum_ / static_cast<double>(samples_) : last_.loss;
  const double rate = rate_.samples_per_second();
  std::vector<Part> all;
  all.push_back({9, fmt::format("{}{}/{}", form == Form::tight ? "" : "epoch ", last_.epoch, start_.epochs)});
  if (form == Form::wide) all.back().text += " " + bar(done(), static_cast<double>(all_steps()), 16);
  all.back().text += fmt::format("{}{}/{}", wide ? " step " : " ", last_.step_in_epoch, start_.steps_per_epoch);
  all.push_back({8, fmt::format("loss {:.4g}", loss)});
  if (const std::string last = metric(); !last.empty()) all.push_back({5, last});
  all.push_back({6, rate_text(rate) + (wide ? " samples/s" : "/s") + (wide ? whose() : "")});
  if (start_.flops_per_sample > 0) {
    const double flops = rate * start_.flops_per_sample;
    all.push_back({4, human_flops(flops) + "/s"});
    if (wide) all.back().text += share(flops);
    else if (peak_flops_ > 0) all.back().text += fmt::format(" {}%", percent(flops / peak_flops_));
  }
  all.push_back({2, fmt::format("{} {:.0f}{}%", wide ? "I/O wait" : "io", 100 * rate_.waiting(), wide ? " " : "")});
  if (start_.ranks > 1) {
    all.push_back({3, fmt::format("{} {:.0f}{}%", wide ? "exposed communication" : "comm", 100 * rate_.exchanging(),
                                  wide ? " " : "")});
    if (const auto hidden = rate_.hidden_messages(); hidden && wide)
      all.back().text +=
          fmt::format(" (messages {:.0f} %, {:.0f} % hidden)", 100 * rate_.exchanging_messages(), 100 * *hidden);
  }
  if (bad_.steps > 0) all.push_back({8, wide ? bad_.str() : fmt::format("{} bad", bad_.steps)});
  all.push_back({7, "left " + human_seconds(seconds_left())});
  return all;
}

std::string RunStatus::speed(double samples_per_second) const {
  std::string text = rate_text(samples_per_second) + " samples/s" + whose();
  const double flops = samples_per_second * start_.flops_per_sample;
  if (flops > 0) text += fmt::format("  {}/s{}", human_flops(flops), share(flops));
  return text;
}

// Where ranks go at their own pace, only those of the first team are counted.
std::string RunStatus::whose() const { return start_.teams > 1 ? " on rank 0" : ""; }

std::string RunStatus::share(double flops_per_second) const {
  return peak_flops_ > 0 ? fmt::format(" ({} % of peak)", percent(flops_per_second / peak_flops_)) : "";
}

// The metric that the recipe names first; parts of a metric ("iou.river") do not stand for the whole.
std::string RunStatus::metric() const {
  std::string best;
  for (const std::string& name : asked_)
    if (best.empty() && judged_.contains(name)) best = name;
  for (const auto& [name, value] : judged_)
    if (best.empty() && name != "loss" && name.find('.') == std::string::npos) best = name;
  if (!best.empty()) return fmt::format("{} {:.4g}", best, judged_.at(best));
  return judged_.contains("loss") ? fmt::format("{} loss {:.4g}", judged_set_, judged_.at("loss")) : "";
}

// In batches, because a step may take several of them.
double RunStatus::done() const {
  return static_cast<double>((last_.epoch - 1) * start_.steps_per_epoch + last_.step_in_epoch);
}

// Assumes that the remaining evaluations take as long as the last one.
double RunStatus::seconds_left() const {
  return std::max(0.0, (static_cast<double>(all_steps()) - done()) * rate_.seconds_per_step() +
                           static_cast<double>(start_.epochs - last_.epoch + 1) * test_seconds_);
}

}  // namespace isobar::record
