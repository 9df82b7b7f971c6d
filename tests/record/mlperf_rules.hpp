// Checks an MLPerf HPC log against rules written from the published ones: which keys must occur, how often, in which
// order, with which values. Returns what is wrong, so that tests can also show that damage is detected.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace isobar::record {

class MlperfRules {
 public:
  static std::vector<std::string> complaints(const std::string& log) {
    MlperfRules rules;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) rules.take(line);
    rules.finish();
    return rules.wrong_;
  }

 private:
  using Json = nlohmann::json;

  void need(bool condition, const std::string& what) {
    if (!condition) wrong_.push_back(what);
  }

  void take(const std::string& text) {
    constexpr std::string_view token = ":::MLLOG ";
    need(text.starts_with(token), "a line without its token");
    if (!text.starts_with(token)) return;
    const auto line = nlohmann::ordered_json::parse(text.substr(token.size()), nullptr, false);
    std::string names;
    if (line.is_object())
      for (const auto& [name, value] : line.items()) names += name + " ";
    need(names == "namespace time_ms event_type key value metadata ", "a line with members " + names);
    if (names != "namespace time_ms event_type key value metadata ") return;
    const std::string key = line["key"], type = line["event_type"];
    const Json value = line["value"], metadata = line["metadata"];
    const auto time = line["time_ms"].get<std::int64_t>();
    need(time >= time_, key + ": before the line above it");
    need(metadata.contains("file") && metadata.contains("lineno"), key + ": no place in the source");
    const bool starts = key.ends_with("_start"), stops = key.ends_with("_stop");
    need(type == (starts ? "INTERVAL_START" : stops ? "INTERVAL_END" : "POINT_IN_TIME"), key + ": of type " + type);
    time_ = time;
    check_order(key, metadata, time);
    ++count_[key];
    values_[key].push_back(value);
  }

  void check_order(const std::string& key, const Json& metadata, std::int64_t time) {
    const auto seen = [&](const char* other) { return count_.contains(other); };
    if (key == "init_start") {
      need(!seen("init_stop") && !seen("run_start"), "init_start: too late");
      if (!seen("init_start")) init_ = time;
    }
    if (key == "init_stop") {
      need(seen("init_start") && !seen("run_start"), "init_stop: not between init_start and run_start");
      need(time - init_ < 30 * 60 * 1000, "init_stop: after more than 30 minutes");
    }
    if (key == "run_start") need(seen("init_stop"), "run_start: before init_stop");
    if (key == "run_stop") {
      need(seen("run_start"), "run_stop: before run_start");
      const std::string status = metadata.value("status", "");
      need(status == "success" || status == "aborted", "run_stop: status " + status);
      status_ = status;
    }
    need(!seen("run_stop"), key + ": after run_stop");
    if (key == "staging_start") need(seen("run_start"), "staging_start: before run_start");
    if (key == "staging_stop") need(seen("staging_start"), "staging_stop: before staging_start");
    const bool epoch = key.starts_with("epoch_"), eval = key.starts_with("eval_") && key != "eval_samples";
    if (!epoch && !eval) return;
    need(seen("run_start"), key + ": before run_start");
    const auto number = metadata.value("epoch_num", std::int64_t{0});
    need(number >= 1, key + ": no epoch_num");
    std::int64_t& open = epoch ? open_epoch_ : open_eval_;
    if (key.ends_with("_start")) {
      need(open == 0, key + ": the one before is open");
      if (epoch) need(number == last_epoch_ + 1, key + ": not the next epoch");
      open = number;
    } else {
      need(open == number, key + ": not open");
      if (key.ends_with("_stop")) open = 0;
      if (key == "epoch_stop") last_epoch_ = number;
    }
  }

  void exactly_one(std::initializer_list<const char*> keys) {
    for (const char* key : keys) need(count_[key] == 1, fmt::format("{}: {} times", key, count_[key]));
  }
  void at_least_one(std::initializer_list<const char*> keys) {
    for (const char* key : keys) need(count_[key] >= 1, fmt::format("{}: none", key));
  }
  // All logged values must be good; another rule requires that there are any.
  template <class F>
  void all(const char* key, F good) {
    for (const Json& value : values_[key]) need(good(value), fmt::format("{}: {}", key, value.dump()));
  }
  void one_of(const char* key, std::set<std::string> words) {
    all(key, [&](const Json& value) { return value.is_string() && words.contains(value.get<std::string>()); });
  }
  void at_least(const char* key, double least) {
    all(key, [&](const Json& value) { return value.is_number() && value.get<double>() >= least; });
  }
  std::string text(const char* key) {
    return values_[key].empty() || !values_[key][0].is_string() ? "" : values_[key][0].get<std::string>();
  }

  void finish() {
    exactly_one({"submission_org", "submission_platform", "submission_division", "submission_status",
                 "submission_benchmark", "init_stop", "run_start", "run_stop", "train_samples", "eval_samples",
                 "global_batch_size", "number_of_nodes", "accelerators_per_node"});
    at_least_one({"cache_clear", "init_start", "epoch_start", "epoch_stop", "eval_start", "eval_stop"});
    for (const char* key : {"submission_org", "submission_platform"})
      all(key, [](const Json& value) { return value.is_string() && value != ""; });
    one_of("submission_division", {"closed", "open"});
    one_of("submission_status", {"cloud", "onprem", "preview", "research"});
    one_of("submission_benchmark", {"deepcam", "cosmoflow", "oc20", "openfold"});
    for (const char* key : {"train_samples", "eval_samples", "global_batch_size", "number_of_nodes"}) at_least(key, 1);
    at_least("accelerators_per_node", 0);
    need(open_eval_ == 0, "an evaluation that does not stop");
    need(open_epoch_ == 0 || status_ == "aborted", "an epoch that does not stop");
    need(count_["staging_start"] == count_["staging_stop"], "staging that does not stop");
    if (text("submission_benchmark") == "cosmoflow") finish_cosmoflow();
    if (text("submission_benchmark") == "deepcam") finish_deepcam();
  }

  void quality(const char* key, double low, double high) {
    at_least_one({key});
    bool good = false;
    for (const Json& value : values_[key])
      good |= value.is_number() && value.get<double>() >= low && value.get<double>() <= high;
    need(good == (status_ == "success"), fmt::format("run_stop: {} with this {}", status_, key));
  }

  void finish_cosmoflow() {
    exactly_one({"opt_name", "opt_base_learning_rate", "opt_learning_rate_warmup_epochs",
                 "opt_learning_rate_warmup_factor", "opt_learning_rate_decay_boundary_epochs",
                 "opt_learning_rate_decay_factor", "dropout", "opt_weight_decay"});
    one_of("opt_name", {"SGD"});
    for (const char* key : {"opt_base_learning_rate", "opt_learning_rate_warmup_epochs",
                            "opt_learning_rate_warmup_factor", "dropout", "opt_weight_decay"})
      at_least(key, 0);
    all("dropout", [](const Json& value) { return value.is_number() && value.get<double>() < 1; });
    quality("eval_error", 1e-300, 0.124);
  }

  void finish_deepcam() {
    exactly_one({"seed", "batchnorm_group_size", "gradient_accumulation_frequency", "opt_name", "opt_lr", "opt_betas",
                 "opt_eps", "scheduler_type", "scheduler_lr_warmup_steps", "scheduler_lr_warmup_factor"});
    one_of("opt_name", {"Adam", "AdamW", "LAMB"});
    one_of("scheduler_type", {"multistep", "cosine_annealing"});
    for (const char* key :
         {"seed", "batchnorm_group_size", "gradient_accumulation_frequency", "scheduler_lr_warmup_factor"})
      at_least(key, 1);
    at_least("scheduler_lr_warmup_steps", 0);
    all("opt_lr", [](const Json& value) { return value.is_number() && value.get<double>() > 0; });
    all("opt_betas", [](const Json& value) { return value.is_array() && value.size() == 2; });
    all("opt_eps", [](const Json& value) { return value.is_number() && std::abs(value.get<double>() - 1e-6) < 1e-12; });
    all("train_samples", [](const Json& value) { return value == 121266; });
    all("eval_samples", [](const Json& value) { return value == 15158; });
    if (text("scheduler_type") == "multistep") exactly_one({"scheduler_milestones", "scheduler_decay_rate"});
    if (text("scheduler_type") == "cosine_annealing") exactly_one({"scheduler_t_max", "scheduler_eta_min"});
    if (text("opt_name") == "LAMB") {
      exactly_one({"opt_bias_correction", "opt_grad_averaging", "opt_max_grad_norm"});
      all("opt_max_grad_norm", [](const Json& value) { return value == 1.0; });
    }
    quality("eval_accuracy", 0.82, 1);
  }

  std::vector<std::string> wrong_;
  std::map<std::string, int> count_;
  std::map<std::string, std::vector<Json>> values_;
  std::int64_t time_ = 0, init_ = 0, open_epoch_ = 0, open_eval_ = 0, last_epoch_ = 0;
  std::string status_;
};

}  // namespace isobar::record
