// Rows of the run card about the cost of a run: all runs that led to it, all of its time, its input and its FLOPs.
#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/report/card_facts.hpp"

namespace isobar::report {
namespace {

std::string count(std::int64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", with_commas(number), thing, number == 1 ? "" : "s");
}

double percent_text(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// Seconds of the traced steps of rank 0, and of the kernels that compute in them.
std::pair<double, double> traced_and_computing(const record::RunRecord& run) {
  double all = 0, kernels = 0;
  if (run.by_rank.empty()) return {0, 0};
  for (const record::ProfiledStep& step : run.by_rank[0].steps) all += step.seconds;
  const auto totals = run.totals(run.by_rank[0]);
  for (const Category category : {Category::forward_convolution, Category::forward_pointwise,
                                  Category::backward_convolution, Category::backward_pointwise})
    kernels += totals[static_cast<std::size_t>(category)].seconds;
  return {all, kernels};
}

// What waiting for messages of the model and for gradients cost, and how much of their time was hidden.
std::string exchange_text(const record::RunRecord& run) {
  const comm::ExchangeCosts costs = run.exchange_costs();
  if (costs.messages.sums == 0) return "";
  double seconds = 0;
  for (const record::StepRecord& step : run.steps) seconds += step.seconds;
  const auto part = [&](const comm::ExchangeCost& cost) {
    const auto hidden = comm::hidden_share(cost);
    return fmt::format("{:.1f} % of the steps' time{}", percent_text(cost.waited_seconds, seconds),
                       hidden ? fmt::format(", {:.0f} % of theirs hidden", 100 * *hidden) : "");
  };
  return fmt::format("; {}messages of the model were waited for in {}, gradients in {}",
                     run.ways > 1 ? fmt::format("one model over {} ranks: ", run.ways) : "", part(costs.messages),
                     part(costs.gradients));
}

}  // namespace

CardFinding tuning_runs(const CardFacts& facts) {
  const Ledger& own = facts.ledger;
  if (!own.has_history)
    return not_shown("how often it was started is not recorded (no history.jsonl, an older program): " +
                     facts.again("") + ", with all tuning runs in folders beside each other");
  std::string figure = "started once";
  if (own.starts > 1)
    figure = fmt::format("started {} times ({} resumed, {} overwritten; {} discarded or repeated)", own.starts,
                         own.resumed, own.overwritten, count(own.dropped_steps, "step"));
  std::int64_t steps = own.all_steps(), without = 0;
  double seconds = own.all_seconds();
  for (const Sibling& sibling : facts.siblings.runs) {
    steps += sibling.ledger.all_steps();
    seconds += sibling.ledger.all_seconds();
    without += !sibling.ledger.has_history;
  }
  figure += fmt::format("; {} of {} on the same data beside it", count(std::ssize(facts.siblings.runs), "other run"),
                        facts.run.model_name());
  if (!facts.siblings.all) figure += ", and more that are too many to count";
  if (without > 0) figure += fmt::format(" ({} with unknown restarts)", without);
  return shown(figure + fmt::format("; all together {} in {}. Runs kept elsewhere are not counted",
                                    count(steps, "step"), short_seconds(seconds)));
}

CardFinding whole_application(const CardFacts& facts) {
  const Ledger& ledger = facts.ledger;
  if (!facts.timed() || ledger.kept_seconds() <= 0) return not_shown("no step of it was timed: " + facts.to_its_end());
  const double whole = ledger.kept_seconds();
  std::string figure =
      fmt::format("{} over {} of steps, evaluations ({:.3g} s) and checkpoints ({:.3g} s); {} in steps alone",
                  facts.told(static_cast<double>(ledger.samples) / whole), short_seconds(whole), ledger.test_seconds,
                  ledger.checkpoint_seconds, facts.speed());
  figure += fmt::format(", a step of {:.4g} ms with input and communication", facts.run.step_seconds() * 1e3);
  if (const auto [traced, kernels] = traced_and_computing(facts.run); traced > 0)
    figure += fmt::format(", of which kernels are {:.1f} %{}", percent_text(kernels, traced),
                          facts.run.ranks > 1 ? " on rank 0" : "");
  figure += exchange_text(facts.run);
  const auto& sessions = facts.run.sessions;
  if (sessions.size() == 1 && sessions[0].seconds)
    figure += fmt::format("; wall time from the first step to the end {}", short_seconds(*sessions[0].seconds));
  return shown(figure + facts.ending());
}

CardFinding input_and_staging(const CardFacts& facts) {
  const Ledger& ledger = facts.ledger;
  if (!facts.timed()) return not_shown("no step of it was timed: " + facts.to_its_end());
  const std::string data = one_line(facts.setting("data", "train"), 60);
  const std::string waited = fmt::format("{:.1f} % of the steps' time ({:.3g} s) was waiting for input{}",
                                         percent_text(ledger.wait_seconds, ledger.step_seconds), ledger.wait_seconds,
                                         facts.run.ranks > 1 ? " on rank 0" : "");
  if (!facts.reads_files())
    return not_shown(fmt::format(
        "its samples are generated ({}), no file was read ({}). Write them first, `isobar data make --help`, and train "
        "from the files: {}",
        data, waited, facts.again("--set 'data.train=hdf5(path=...)'")));
  for (const Setup& setup : ledger.setups)
    if (!setup.staging_seconds)
      return not_shown(fmt::format("{}, included; how long staging took is not recorded (an older program): {}", waited,
                                   facts.again("")));
  const std::string staging = facts.setting("data", "staging");
  std::string figure = waited + ", included; ";
  figure += staging.empty() || staging == "none"
                ? fmt::format("nothing was staged, {:.3g} s until the data was ready", ledger.staging_seconds())
                : fmt::format("staging by {} took {:.4g} s, beside the steps", staging, ledger.staging_seconds());
  for (const record::RecordedSession& session : facts.run.sessions)
    if (const auto read = session.staging.find("train.bytes_read"); read != session.staging.end())
      figure += fmt::format(", {} read", human_bytes(read->second));
  return shown(figure + facts.ending());
}

CardFinding flops(const CardFacts& facts) {
  const record::RunRecord& run = facts.run;
  if (run.flops_per_sample <= 0 || run.precision.empty())
    return not_shown(fmt::format("{} not recorded (an older program, or no step was begun): {}",
                                 run.flops_per_sample <= 0 ? "FLOPs are" : "the precision of its FLOPs is",
                                 facts.again("")));
  std::string figure = fmt::format(
      "{} for a sample, forward and backward, in {}: the sum over the kernels of the plan, a multiply-add counts 2",
      human_flops(run.flops_per_sample), run.precision);
  if (!facts.timed()) return shown(figure + facts.ending());
  const double rate = run.flops_per_sample * run.samples_per_second();
  figure += fmt::format("; {}/s sustained in steps{}", human_flops(rate), run.teams > 1 ? " on rank 0" : "");
  if (run.peaks.flops_per_second > 0)
    figure += fmt::format(", {:.1f} % of the {}/s measured here ({})", percent_text(rate, run.peaks.flops_per_second),
                          human_flops(run.peaks.flops_per_second), run.peaks.how);
  if (run.peaks.flops_per_second > 0 && rate > run.peaks.flops_per_second)
    figure += "; more than the peak: it was measured while the machine was busy, `isobar doctor` measures it again";
  return shown(figure + facts.ending());
}

}  // namespace isobar::report
