// mlperf_log: a run in the log format of MLPerf HPC: mlperf.log, lines of ":::MLLOG" and a JSON object with namespace,
// time_ms, event_type, key, value and metadata, in order of time. CosmoFlow and DeepCAM have all keys that their rules
// require, other networks only the common keys. This program does not clear caches, and the log says so.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <source_location>

#include <nlohmann/json.hpp>

#include "isobar/disk/late_file.hpp"
#include "isobar/record/json_member.hpp"
#include "isobar/record/mlperf_recipe.hpp"
#include "isobar/record/sinks.hpp"

namespace isobar::record {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view token = ":::MLLOG ";
constexpr const char *interval_start = "INTERVAL_START", *interval_end = "INTERVAL_END", *point = "POINT_IN_TIME";

std::string or_unstated(const std::string& text) { return text.empty() ? "not stated" : text; }

class MlperfLog final : public train::Sink {
 public:
  MlperfLog(const train::Job& job, std::function<double()> unix_time)
      : options_(job.report),
        unix_time_(std::move(unix_time)),
        made_at_(unix_time_()),
        benchmark_(mlperf_benchmark(job.recipe)) {}

  void start(const train::Start& start) override {
    path_ = start.folder / "mlperf.log";
    step_ = start.first_step;
    const std::int64_t kept = start.goes_on() ? keep(start) : 0;
    file_ = disk::LateFile(path_, kept);
    if (kept == 0) begin(start);
    epochs_ = start.epochs;
    if (open_epoch_ == 0 && epoch_ < epochs_) begin_epoch(unix_time_());
  }

  train::Reached reached(const train::Start& start) const override {
    return {start.first_step, std::min(epoch_, start.first_epoch)};
  }

  void step(const train::StepDone& step) override { step_ = step.step; }

  void epoch(const train::EpochDone& done) override {
    const double now = unix_time_();
    step_ = done.step;
    epoch_ = done.epoch;
    const OrderedJson at{{"epoch_num", done.epoch}};
    put(now - done.test_seconds, interval_end, "epoch_stop", nullptr, at);
    open_epoch_ = 0;
    put(now - done.test_seconds, point, "train_loss", done.train_loss, at);
    if (!done.test.empty()) {
      put(now - done.test_seconds, interval_start, "eval_start", nullptr, at);
      const auto quality = done.test.find(benchmark_.metric);
      if (quality != done.test.end()) {
        put(now, point, benchmark_.key, quality->second, at);
        reached_ |= benchmark_.reached(quality->second);
      }
      put(now, interval_end, "eval_stop", nullptr, at);
    }
    if (done.epoch < epochs_) begin_epoch(now);
  }

  void end(const train::End& end) override {
    const bool finished = end.reason == train::End::Reason::finished;
    const bool success = finished && (reached_ || benchmark_.metric.empty());
    put(unix_time_(), interval_end, "run_stop", nullptr, {{"status", success ? "success" : "aborted"}});
    file_.close();
  }

 private:
  void begin(const train::Start& start) {
    const double now = unix_time_(), run_start = now - start.staging_seconds;
    put(made_at_, point, "cache_clear", false);
    put(made_at_, interval_start, "init_start", nullptr);
    put(made_at_, point, "submission_benchmark", benchmark_.name);
    put(made_at_, point, "submission_org", or_unstated(options_.mlperf_organization));
    put(made_at_, point, "submission_division", options_.mlperf_division);
    put(made_at_, point, "submission_status", options_.mlperf_status);
    put(made_at_, point, "submission_platform", or_unstated(options_.mlperf_platform));
    for (const auto& [key, value] : mlperf_parameters(start)) put(run_start, point, key, value);
    put(run_start, interval_end, "init_stop", nullptr);
    put(run_start, interval_start, "run_start", nullptr);
    if (!stages(start.recipe)) return;
    put(run_start, interval_start, "staging_start", nullptr);
    put(now, interval_end, "staging_stop", nullptr);
  }

  static bool stages(const Spec& recipe) {
    return Args(recipe, "recipe").section("data").spec("staging", "none").name() != "none";
  }

  void begin_epoch(double time) {
    open_epoch_ = epoch_ + 1;
    put(time, interval_start, "epoch_start", nullptr, {{"epoch_num", open_epoch_}});
  }

  // Times never go back, even if the system clock is set back.
  void put(double time, const char* type, std::string_view key, const OrderedJson& value,
           const OrderedJson& more = OrderedJson::object(),
           std::source_location where = std::source_location::current()) {
    last_ms_ = std::max(last_ms_, std::llround(1e3 * time));
    OrderedJson metadata{{"file", fs::path(where.file_name()).filename().string()}, {"lineno", where.line()}};
    for (const auto& [name, what] : more.items()) metadata[name] = what;
    metadata["step_num"] = step_;
    const OrderedJson line{{"namespace", ""}, {"time_ms", last_ms_}, {"event_type", type},
                           {"key", key},      {"value", value},      {"metadata", metadata}};
    file_.append(std::string(token) + line.dump() + "\n");
  }

  // Keeps what was logged up to a step, without the end of an interrupted run; returns its length, 0 if the file is not
  // a log.
  std::int64_t keep(const train::Start& start) {
    std::ifstream in(path_);
    std::int64_t kept = 0;
    bool started = false;
    for (std::string text; std::getline(in, text) && !in.eof(); kept += std::ssize(text) + 1) {
      if (!text.starts_with(token)) break;
      const auto line = nlohmann::json::parse(text.substr(token.size()), nullptr, /*allow_exceptions=*/false);
      const auto key = member<std::string>(line, "key");
      if (key.empty() || key == "run_stop" || !line.contains("metadata")) break;
      const nlohmann::json& metadata = line["metadata"];
      if (member<std::int64_t>(metadata, "step_num", start.first_step + 1) > start.first_step) break;
      const auto epoch = member<std::int64_t>(metadata, "epoch_num");
      if (epoch - (key == "epoch_start" ? 1 : 0) > start.first_epoch) break;
      take_over(key, line, epoch);
      started |= key == "run_start";
    }
    return started ? kept : 0;
  }

  void take_over(const std::string& key, const nlohmann::json& line, std::int64_t epoch) {
    last_ms_ = std::max<long long>(last_ms_, member<std::int64_t>(line, "time_ms"));
    if (key == "epoch_start") open_epoch_ = epoch;
    if (key == "epoch_stop") open_epoch_ = 0, epoch_ = epoch;
    if (key == benchmark_.key && line["value"].is_number()) reached_ |= benchmark_.reached(line["value"].get<double>());
  }

  train::ReportOptions options_;
  std::function<double()> unix_time_;
  double made_at_;
  MlperfBenchmark benchmark_;
  fs::path path_;
  disk::LateFile file_;
  long long last_ms_ = 0;
  std::int64_t step_ = 0, epochs_ = 0;
  std::int64_t epoch_ = 0;       // the last finished one
  std::int64_t open_epoch_ = 0;  // 0: none
  bool reached_ = false;
};

}  // namespace

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::unique_ptr<train::Sink> mlperf_log(const train::Job& job, std::function<double()> unix_time) {
  return std::make_unique<MlperfLog>(job, std::move(unix_time));
}

}  // namespace isobar::record
