// Rows of the run card about accuracy: with speed, on the test set, of the same run, time to a target, and compared
// with published results.
#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/metrics/metric.hpp"
#include "isobar/report/card_facts.hpp"

namespace isobar::report {
namespace {

// How to obtain a test result.
std::string would_evaluate(const CardFacts& facts) {
  if (facts.setting("data", "test").empty()) return "the recipe has no test set: " + facts.again("--set data.test=...");
  return "it has a test set, and no evaluation was finished: " + facts.to_its_end();
}

bool tests_on_training_data(const CardFacts& facts) {
  const std::string test = facts.setting("data", "test");
  return !test.empty() && test == facts.setting("data", "train");
}

std::string set_up(const Setup& setup) {
  return fmt::format("{} rank{} with {} thread{}{}", setup.ranks, setup.ranks == 1 ? "" : "s", setup.threads,
                     setup.threads == 1 ? "" : "s",
                     setup.global_batch > 0 ? fmt::format(", global batch {}", setup.global_batch) : "");
}

double best_of(std::span<const Evaluation> evaluations, const train::Target& target) {
  double best = target.larger ? -1e300 : 1e300;
  for (const Evaluation& evaluation : evaluations)
    if (const auto value = evaluation.values.find(target.metric); value != evaluation.values.end())
      best = target.larger ? std::max(best, value->second) : std::min(best, value->second);
  return best;
}

// A metric with its defaults: iou is iou(kind=stream).
Spec resolved(std::string_view metric) {
  Spec whole;
  try {
    make(metrics::metrics(), Spec(metric), "metric", &whole);
  } catch (const Error&) {
    return Spec(std::string(metric), {});  // from another version of the program
  }
  return whole;
}

// Metrics with the same name may differ in meaning: the recipe must name the reference's own.
bool measures(const CardFacts& facts, const Reference& reference, const train::Target& target) {
  if (facts.evaluations.empty() || !facts.evaluations.back().values.contains(target.metric)) return false;
  return target.metric == "loss" || std::ranges::any_of(metrics_of(facts.run), [&](const std::string& metric) {
           return resolved(metric) == resolved(reference.metric);
         });
}

CardFinding time_to(const CardFacts& facts, const train::Target& target, const std::string& whose) {
  if (facts.judging.empty() || !facts.judging.back().values.contains(target.metric))
    return not_shown(fmt::format("{} {} was not evaluated: {}", whose, target.str(),
                                 facts.judging.empty()
                                     ? would_evaluate(facts)
                                     : facts.again(fmt::format("--set 'train.metrics=[\"{}\"]'", target.metric))));
  const Evaluation* reached = first_to_reach(facts.judging, target);
  if (!reached)
    return not_shown(fmt::format("{} {} was not reached: best {:.4g}{}; more epochs: {}", whose, target.str(),
                                 best_of(facts.judging, target), facts.ending(),
                                 facts.again("--set train.epochs=...")));
  return shown(fmt::format(
      "{} {} reached{} in {} ({:.4g} s of steps, evaluations and checkpoints, {:.3g} s of staging): epoch {}, step {}",
      whose, target.str(), facts.validates() ? " on the validation set" : "",
      short_seconds(reached->seconds + facts.ledger.staging_seconds()), reached->seconds,
      facts.ledger.staging_seconds(), reached->epoch, with_commas(reached->step)));
}

}  // namespace

CardFinding accuracy_with_speed(const CardFacts& facts) {
  if (!facts.timed()) return not_shown("no step of it was timed, so there is no speed to show: " + facts.to_its_end());
  if (facts.evaluations.empty())
    return not_shown(fmt::format("{} stand alone; {}", facts.speed(), would_evaluate(facts)));
  return shown(fmt::format("{} with {}{}", facts.speed(), facts.result(), facts.ending()));
}

CardFinding test_accuracy(const CardFacts& facts) {
  if (facts.evaluations.empty()) {
    const std::string loss =
        facts.run.steps.empty() ? "nothing" : fmt::format("a training loss of {:.4g}", facts.run.steps.back().loss);
    return not_shown(fmt::format("there is {} only; {}", loss, would_evaluate(facts)));
  }
  if (tests_on_training_data(facts))
    return not_shown("the test set of the recipe is its training set: " + facts.again("--set data.test=..."));
  std::string figure = facts.result();
  const Evaluation& last = facts.evaluations.back();
  if (const auto loss = last.values.find("loss"); loss != last.values.end() && facts.judged != "loss")
    figure += fmt::format(", test loss {:.4g}", loss->second);
  if (facts.run.test_samples > 0) figure += fmt::format(", on {} samples", with_commas(facts.run.test_samples));
  const auto epoch = std::ranges::find(facts.run.epochs, last.epoch, &record::EpochRecord::epoch);
  if (epoch != facts.run.epochs.end()) figure += fmt::format("; training loss {:.4g}", epoch->train_loss);
  if (facts.evaluations.size() > 1)
    figure += fmt::format("; the last of {} evaluations, not the best", facts.evaluations.size());
  if (const std::string choices = record::choices_text(facts.run.recipe); !choices.empty()) figure += "; " + choices;
  return shown(figure + facts.ending());
}

CardFinding same_run(const CardFacts& facts) {
  if (!facts.timed() || facts.evaluations.empty())
    return not_shown(fmt::format("it has {}, so the two would have to come from different runs; {}",
                                 facts.timed() ? "a speed and no accuracy" : "no speed", would_evaluate(facts)));
  const std::vector<Setup>& setups = facts.ledger.setups;
  for (const Setup& setup : setups)
    if (!(setup == setups[0]))
      return not_shown(fmt::format("it was resumed with another set-up ({}; then {}), so speed is that of neither: {}",
                                   set_up(setups[0]), set_up(setup), facts.again("")));
  std::string figure = fmt::format("one run, one recipe: {}, {}", facts.speed(), facts.result());
  if (!setups.empty()) figure += "; " + set_up(setups[0]);
  if (setups.size() > 1) figure += fmt::format(", resumed {} times with the same", setups.size() - 1);
  if (!facts.run.fingerprint.empty()) figure += ", plan " + facts.run.fingerprint;
  if (facts.run.teams > 1) figure += "; not reproducible, since its teams went at their own pace";
  return shown(figure + facts.ending());
}

CardFinding time_to_solution(const CardFacts& facts) {
  if (facts.target) return time_to(facts, *facts.target, "target");
  const std::string obstacle = facts.not_comparable();
  if (facts.reference && facts.reference->target() && obstacle.empty() &&
      (facts.evaluations.empty() || measures(facts, *facts.reference, *facts.reference->target())))
    return time_to(
        facts, *facts.reference->target(),
        fmt::format("{} of {}", facts.reference->demanded ? "target" : "published result", facts.reference->task));
  const std::string example =
      facts.judged.empty() ? "loss<=..."
                           : fmt::format("{}{}...", facts.judged, train::larger_is_better(facts.judged) ? ">=" : "<=");
  return not_shown(
      fmt::format("no quality was set as a target{}: {}",
                  obstacle.empty() || !facts.reference ? "" : " and the published one does not apply, as " + obstacle,
                  facts.again(fmt::format("--set 'report.target={}'", example))));
}

CardFinding against_reference(const CardFacts& facts) {
  const std::string with_own =
      "; a run of your own can stand for it: `isobar report REFERENCE_RUN " + facts.run.folder.string() + "`";
  if (const std::string obstacle = facts.not_comparable(); !obstacle.empty()) return not_shown(obstacle + with_own);
  const Reference& reference = *facts.reference;
  if (!reference.target())
    return not_shown(fmt::format("no accuracy is published with it ({}){}", reference.source, with_own));
  const train::Target target = *reference.target();
  if (!measures(facts, reference, target))
    return not_shown(fmt::format("{} of {} was not evaluated: {}", reference.metric, reference.task,
                                 facts.again(fmt::format("--set 'train.metrics=[\"{}\"]'", reference.metric))));
  if (!facts.timed()) return not_shown("no step of it was timed: " + facts.to_its_end());
  const double value = facts.evaluations.back().values.at(target.metric);
  std::string figure =
      fmt::format("{} {:.4g} against {:g} ({}); ", target.metric, value, target.value, reference.source);
  figure += fmt::format("{} steps of {}, {} here", with_commas(facts.ledger.steps), facts.run.global_batch,
                        short_seconds(facts.ledger.kept_seconds() + facts.ledger.staging_seconds()));
  if (reference.effort.empty())
    return not_shown(figure + fmt::format("; what it took there is not published{}", with_own));
  return shown(figure + fmt::format("; there {}, no wall time is published", reference.effort) + facts.ending());
}

}  // namespace isobar::report
