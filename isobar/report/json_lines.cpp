#include "isobar/report/json_lines.hpp"

#include <nlohmann/json.hpp>

#include "isobar/report/kept_bytes.hpp"

namespace isobar::report {
namespace {

using Json = nlohmann::ordered_json;

class JsonLines final : public train::Sink {
 public:
  void start(const train::Start& start) override {
    metrics_ = open_lines(start.folder / "metrics.jsonl", start.first_step);
    timing_ = open_lines(start.folder / "timing.jsonl", start.first_step);
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
  }

  void epoch(const train::EpochDone& epoch) override {
    Json line{{"kind", "epoch"},
              {"step", epoch.step},
              {"epoch", epoch.epoch},
              {"train_loss", epoch.train_loss},
              {"test", epoch.test}};
    if (epoch.skipped) line["skipped"] = *epoch.skipped;
    if (epoch.test_skipped) line["test_skipped"] = *epoch.test_skipped;
    put(metrics_, line);
    put(timing_, {{"kind", "epoch"},
                  {"step", epoch.step},
                  {"epoch", epoch.epoch},
                  {"train_seconds", epoch.train_seconds},
                  {"test_seconds", epoch.test_seconds}});
  }

  void checkpoint(const train::CheckpointDone& done) override {
    put(timing_, {{"kind", "checkpoint"}, {"step", done.step}, {"seconds", done.seconds}, {"bytes", done.bytes}});
  }

  void end(const train::End& end) override {
    const bool finished = end.reason == train::End::Reason::finished;
    put(metrics_,
        {{"kind", "end"}, {"step", end.steps}, {"reason", finished ? "finished" : "interrupted"}, {"test", end.test}});
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
  static void put(files::LateFile& file, const Json& object) { file.append(object.dump() + "\n"); }

  files::LateFile metrics_, timing_;
};

}  // namespace

std::unique_ptr<train::Sink> json_lines() { return std::make_unique<JsonLines>(); }

}  // namespace isobar::report
