// json_lines: a run as files for programs, one JSON object per line. metrics.jsonl holds only what follows from recipe
// and seed: two runs with the same seed write the same bytes, even if one was interrupted and resumed. What depends on
// the machine (seconds, rates) is in timing.jsonl. Lines are written in the background, within a tenth of a second
// unless the disk is in trouble, so that they survive if the run is killed.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "isobar/record/exchange_json.hpp"
#include "isobar/record/kept_bytes.hpp"
#include "isobar/record/sinks.hpp"

namespace isobar::record {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

// One of the two files, and how far it reached when it was opened: lines already in it are not written again.
struct Lines {
  disk::LateFile file;
  train::Reached reached;
  bool found = false;  // the file of a resumed run

  void open(const fs::path& path, const train::Start& start) {
    KeptLines kept = open_lines(path, start);
    file = std::move(kept.file);
    reached = kept.reached;
    found = file.length() > 0;
  }
  // Whether a step or epoch comes after the existing lines; after the first such one all do, even those that are
  // repeated when a run goes back.
  static bool is_new(std::int64_t number, std::int64_t& had) {
    if (number <= had) return false;
    had = 0;
    return true;
  }
  // Numbers are written with as many digits as distinguish them: equal bits give equal text.
  void put(const OrderedJson& object) { file.append(object.dump() + "\n"); }
};

// Only if there were bad steps.
void add(const train::BadSteps& bad, OrderedJson& line) {
  if (bad.steps == 0) return;
  line["bad_steps"] = bad.steps;
  line["rewinds"] = bad.rewinds;
  line["rate_scale"] = bad.rate_scale;
}

class JsonLines final : public train::Sink {
 public:
  void start(const train::Start& start) override {
    metrics_.open(start.folder / "metrics.jsonl", start);
    timing_.open(start.folder / "timing.jsonl", start);
    const bool members = timing_.found && !start.changes.empty();
    OrderedJson line{{"kind", members ? "members" : "start"},
                     {"step", members ? timing_.reached.step : start.first_step},  // in the order of the file
                     {"threads", start.threads},
                     {"ranks", start.ranks},
                     {"nodes", start.nodes},
                     {"global_batch", start.global_batch},
                     {"parameters", start.parameters},
                     {"flops_per_sample", start.flops_per_sample},
                     {"staging_seconds", start.staging_seconds},
                     {"arena_bytes", start.arena_bytes},
                     {"weight_bytes", start.weight_bytes},
                     {"snapshot_bytes", start.snapshot_bytes}};
    if (members) line["change"] = OrderedJson::parse(train::to_json({start.changes.back()}))[0];
    timing_.put(line);
  }

  train::Reached reached(const train::Start&) const override {
    return {std::min(metrics_.reached.step, timing_.reached.step),
            std::min(metrics_.reached.epoch, timing_.reached.epoch)};
  }

  void step(const train::StepDone& step) override {
    if (Lines::is_new(step.step, metrics_.reached.step))
      metrics_.put({{"kind", "step"},
                    {"step", step.step},
                    {"epoch", step.epoch},
                    {"loss", step.loss},
                    {"learning_rate", step.learning_rate}});
    if (Lines::is_new(step.step, timing_.reached.step)) put_timing(step);
  }

  void bad_step(const train::BadStep& bad) override {
    OrderedJson line{{"kind", "bad_step"}, {"step", bad.step}, {"epoch", bad.epoch}, {"found", bad.found}};
    if (bad.back_to) line["back_to"] = *bad.back_to;
    add(bad.bad, line);
    metrics_.put(line);
  }

  void epoch(const train::EpochDone& epoch) override {
    OrderedJson line{{"kind", "epoch"}, {"step", epoch.step}, {"epoch", epoch.epoch}, {"train_loss", epoch.train_loss}};
    if (!epoch.validation.empty()) line["validation"] = epoch.validation;
    line["test"] = epoch.test;
    if (epoch.skipped) line["skipped"] = *epoch.skipped;
    if (epoch.validation_skipped) line["validation_skipped"] = *epoch.validation_skipped;
    if (epoch.test_skipped) line["test_skipped"] = *epoch.test_skipped;
    add(epoch.bad, line);
    if (Lines::is_new(epoch.epoch, metrics_.reached.epoch)) metrics_.put(line);
    if (Lines::is_new(epoch.epoch, timing_.reached.epoch))
      timing_.put({{"kind", "epoch"},
                   {"step", epoch.step},
                   {"epoch", epoch.epoch},
                   {"train_seconds", epoch.train_seconds},
                   {"test_seconds", epoch.test_seconds}});
  }

  void checkpoint(const train::CheckpointDone& done) override {
    timing_.put({{"kind", "checkpoint"},
                 {"step", done.step},
                 {"seconds", done.seconds},
                 {"write_seconds", done.write_seconds},
                 {"bytes", done.bytes},
                 {"file", done.file.filename().string()}});
  }

  void end(const train::End& end) override {
    const bool finished = end.reason == train::End::Reason::finished;
    OrderedJson result{
        {"kind", "end"}, {"step", end.steps}, {"reason", finished ? "finished" : "interrupted"}, {"test", end.test}};
    add(end.bad, result);
    metrics_.put(result);
    OrderedJson last{
        {"kind", "end"}, {"step", end.steps}, {"seconds", end.seconds}, {"step_seconds", end.step_seconds}};
    last["exchange"] = cost_to_json(end.exchange.gradients);
    if (end.exchange.messages.sums > 0) last["messages"] = cost_to_json(end.exchange.messages);
    if (!end.exchanged.empty()) last["exchanged"] = end.exchanged;
    if (end.skipped) last["skipped"] = *end.skipped;
    for (const auto& [name, value] : end.staging) last["staging"][name] = value;
    timing_.put(last);
    metrics_.file.close();
    timing_.file.close();
  }

 private:
  void put_timing(const train::StepDone& step) {
    OrderedJson line{{"kind", "step"},
                     {"step", step.step},
                     {"step_in_epoch", step.step_in_epoch},
                     {"samples", step.samples},
                     {"seconds", step.seconds},
                     {"wait_seconds", step.wait_seconds},
                     {"exchange_seconds", step.exchange_seconds},
                     {"bytes_sent", step.bytes_sent}};
    if (step.costs.gradients.sums > 0) line["gradients"] = cost_to_json(step.costs.gradients);
    if (step.costs.messages.sums > 0) line["messages"] = cost_to_json(step.costs.messages);
    timing_.put(line);
  }

  Lines metrics_, timing_;
};

}  // namespace

std::unique_ptr<train::Sink> json_lines() { return std::make_unique<JsonLines>(); }

}  // namespace isobar::record
