#include "isobar/report/json_lines.hpp"

#include <nlohmann/json.hpp>

#include "isobar/report/flush_clock.hpp"
#include "isobar/report/kept_bytes.hpp"
#include "isobar/report/text_file.hpp"

namespace isobar::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

TextFile open(const fs::path& path, std::int64_t first_step) {
  std::error_code problem;
  if (first_step == 0 || !fs::exists(path, problem)) return TextFile::create(path);
  fs::resize_file(path, kept_bytes(path, first_step), problem);
  if (problem) fail("{}: cannot be shortened to step {}: {}", path.string(), first_step, problem.message());
  return TextFile::append(path);
}

// Only where there is something to tell.
void add(const train::BadSteps& bad, Json& line) {
  if (bad.steps == 0) return;
  line["bad_steps"] = bad.steps;
  line["rewinds"] = bad.rewinds;
  line["rate_scale"] = bad.rate_scale;
}

class JsonLines final : public train::Sink {
 public:
  explicit JsonLines(std::function<double()> clock) : flushes_(std::move(clock)) {}

  void start(const train::Start& start) override {
    metrics_ = open(start.folder / "metrics.jsonl", start.first_step);
    timing_ = open(start.folder / "timing.jsonl", start.first_step);
    put(timing_, {{"kind", "start"},
                  {"step", start.first_step},
                  {"threads", start.threads},
                  {"ranks", start.ranks},
                  {"nodes", start.nodes},
                  {"global_batch", start.global_batch},
                  {"parameters", start.parameters},
                  {"flops_per_sample", start.flops_per_sample},
                  {"staging_seconds", start.staging_seconds},
                  {"arena_bytes", start.arena_bytes},
                  {"weight_bytes", start.weight_bytes}});
  }

  void step(const train::StepDone& step) override {
    put(metrics_, {{"kind", "step"},
                   {"step", step.step},
                   {"epoch", step.epoch},
                   {"loss", step.loss},
                   {"learning_rate", step.learning_rate}});
    put(timing_, {{"kind", "step"},
                  {"step", step.step},
                  {"step_in_epoch", step.step_in_epoch},
                  {"samples", step.samples},
                  {"seconds", step.seconds},
                  {"wait_seconds", step.wait_seconds},
                  {"exchange_seconds", step.exchange_seconds},
                  {"bytes_sent", step.bytes_sent}});
    if (flushes_.due(step.seconds)) flush();
  }

  void bad_step(const train::BadStep& bad) override {
    Json line{{"kind", "bad_step"}, {"step", bad.step}, {"epoch", bad.epoch}, {"found", bad.found}};
    if (bad.back_to) line["back_to"] = *bad.back_to;
    add(bad.bad, line);
    put(metrics_, line);
    flush();
  }

  void epoch(const train::EpochDone& epoch) override {
    Json line{{"kind", "epoch"},
              {"step", epoch.step},
              {"epoch", epoch.epoch},
              {"train_loss", epoch.train_loss},
              {"test", epoch.test}};
    if (epoch.skipped) line["skipped"] = *epoch.skipped;
    if (epoch.test_skipped) line["test_skipped"] = *epoch.test_skipped;
    add(epoch.bad, line);
    put(metrics_, line);
    put(timing_, {{"kind", "epoch"},
                  {"step", epoch.step},
                  {"epoch", epoch.epoch},
                  {"train_seconds", epoch.train_seconds},
                  {"test_seconds", epoch.test_seconds}});
    flush();
  }

  void checkpoint(const train::CheckpointDone& done) override {
    put(timing_, {{"kind", "checkpoint"}, {"step", done.step}, {"seconds", done.seconds}, {"bytes", done.bytes}});
    flush();
  }

  void end(const train::End& end) override {
    const bool finished = end.reason == train::End::Reason::finished;
    Json result{
        {"kind", "end"}, {"step", end.steps}, {"reason", finished ? "finished" : "interrupted"}, {"test", end.test}};
    add(end.bad, result);
    put(metrics_, result);
    Json last{{"kind", "end"}, {"step", end.steps}, {"seconds", end.seconds}, {"step_seconds", end.step_seconds}};
    last["exchange"] = {{"waited_seconds", end.exchange.waited_seconds},
                        {"busy_seconds", end.exchange.busy_seconds},
                        {"sums", end.exchange.sums},
                        {"messages_sent", end.exchange.traffic.messages},
                        {"bytes_sent", end.exchange.traffic.bytes}};
    if (end.skipped) last["skipped"] = *end.skipped;
    for (const auto& [name, value] : end.staging) last["staging"][name] = value;
    put(timing_, last);
    metrics_.close();
    timing_.close();
  }

 private:
  // Numbers are written with as many digits as tell two of them apart: equal bits, equal text.
  static void put(TextFile& file, const Json& object) { file.write(object.dump() + "\n"); }

  void flush() {
    metrics_.flush();
    timing_.flush();
    flushes_.done();
  }

  TextFile metrics_, timing_;
  FlushClock flushes_;
};

}  // namespace

std::unique_ptr<train::Sink> json_lines(std::function<double()> clock) {
  return std::make_unique<JsonLines>(std::move(clock));
}

}  // namespace isobar::report
