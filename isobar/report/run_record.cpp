#include "isobar/report/run_record.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"

namespace isobar::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A member of an object, or `otherwise` where it is missing or of another kind: files may be damaged or older.
template <class T>
T get(const Json& object, const char* key, T otherwise = {}) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) return found->is_string() ? found->get<std::string>() : otherwise;
  else return found->is_number() ? found->get<T>() : otherwise;
}

std::map<std::string, double> numbers(const Json& object, const char* key) {
  std::map<std::string, double> result;
  if (!object.contains(key) || !object[key].is_object()) return result;
  for (const auto& [name, value] : object[key].items())
    if (value.is_number()) result[name] = value.get<double>();
  return result;
}

std::vector<std::pair<std::string, std::string>> pairs(const Json& object, const char* key) {
  std::vector<std::pair<std::string, std::string>> result;
  if (!object.is_object() || !object.contains(key) || !object[key].is_array()) return result;
  for (const Json& pair : object[key])
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string())
      result.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
  return result;
}

Json read_json(const fs::path& file) {
  std::ifstream in(file);
  Json object = in ? Json::parse(in, nullptr, /*allow_exceptions=*/false) : Json();
  return object.is_discarded() ? Json() : object;
}

void read_metrics(RunRecord& run) {
  for (const Json& line : read_json_lines(run.folder / "metrics.jsonl")) {
    const auto kind = get<std::string>(line, "kind");
    const auto step = get<std::int64_t>(line, "step"), epoch = get<std::int64_t>(line, "epoch");
    if (kind == "step") {
      StepRecord record{.step = step, .epoch = epoch};
      record.loss = get<double>(line, "loss");
      record.learning_rate = get<double>(line, "learning_rate");
      run.steps.push_back(record);
    } else if (kind == "epoch") {
      EpochRecord record{.epoch = epoch, .step = step};
      record.train_loss = get<double>(line, "train_loss");
      record.test = numbers(line, "test");
      run.epochs.push_back(record);
    } else if (kind == "end") {
      run.reason = get<std::string>(line, "reason");
      run.test = numbers(line, "test");
    }
  }
}

template <class Record>
Record* find(std::vector<Record>& records, std::int64_t Record::*key, std::int64_t value) {
  const auto found = std::ranges::lower_bound(records, value, {}, key);
  return found != records.end() && (*found).*key == value ? &*found : nullptr;
}

void read_session_end(Session& session, const Json& line) {
  session.seconds = get<double>(line, "seconds");
  session.step_seconds = get<double>(line, "step_seconds");
  if (line.contains("exchange")) {
    session.exchange_waited = get<double>(line["exchange"], "waited_seconds");
    session.exchange_busy = get<double>(line["exchange"], "busy_seconds");
  }
  session.staging = numbers(line, "staging");
}

void read_timing(RunRecord& run) {
  for (const Json& line : read_json_lines(run.folder / "timing.jsonl")) {
    const auto kind = get<std::string>(line, "kind");
    if (kind == "start") {
      run.sessions.push_back({.first_step = get<std::int64_t>(line, "step")});
      run.ranks = get(line, "ranks", 1), run.nodes = get(line, "nodes", 1), run.threads = get(line, "threads", 1);
      run.global_batch = get<std::int64_t>(line, "global_batch");
      run.parameters = get<std::int64_t>(line, "parameters");
      run.flops_per_sample = get<double>(line, "flops_per_sample");
      run.arena_bytes = get<double>(line, "arena_bytes"), run.weight_bytes = get<double>(line, "weight_bytes");
    } else if (kind == "step") {
      StepRecord* step = find(run.steps, &StepRecord::step, get<std::int64_t>(line, "step"));
      if (!step) continue;
      step->samples = get<std::int64_t>(line, "samples");
      step->seconds = get<double>(line, "seconds");
      step->wait_seconds = get<double>(line, "wait_seconds");
      step->exchange_seconds = get<double>(line, "exchange_seconds");
      step->bytes_sent = get<std::int64_t>(line, "bytes_sent");
    } else if (kind == "epoch") {
      EpochRecord* epoch = find(run.epochs, &EpochRecord::epoch, get<std::int64_t>(line, "epoch"));
      if (!epoch) continue;
      epoch->train_seconds = get<double>(line, "train_seconds");
      epoch->test_seconds = get<double>(line, "test_seconds");
    } else if (kind == "end" && !run.sessions.empty()) {
      read_session_end(run.sessions.back(), line);
    }
  }
}

void read_plan(RunRecord& run, const Json& plan) {
  run.fingerprint = get<std::string>(plan, "fingerprint");
  run.forward_steps = get<std::size_t>(plan, "forward_steps");
  run.inputs = pairs(plan, "inputs");
  if (!plan.is_object() || !plan.contains("steps") || !plan["steps"].is_array()) return;
  for (const Json& step : plan["steps"])
    run.plan.push_back({get<std::string>(step, "name"), get<std::string>(step, "kernel"),
                        get<std::string>(step, "category"), get<std::string>(step, "shape"), get<double>(step, "flops"),
                        get<double>(step, "bytes"), get<double>(step, "live_bytes")});
}

void read_facts(RunRecord& run) {
  const Json facts = read_json(run.folder / "run.json");
  if (!facts.is_object()) return;
  run.described = true;
  run.started = get<std::string>(facts, "started"), run.command = get<std::string>(facts, "command");
  run.versions = pairs(facts, "versions"), run.machine = pairs(facts, "machine");
  if (facts.contains("peaks"))
    run.peaks = {get<double>(facts["peaks"], "flops_per_second"), get<double>(facts["peaks"], "bytes_per_second"),
                 get<std::string>(facts["peaks"], "how")};
  run.ranks = get(facts, "ranks", run.ranks), run.nodes = get(facts, "nodes", run.nodes);
  run.threads = get(facts, "threads", run.threads);
  run.global_batch = get(facts, "global_batch", run.global_batch);
  run.parameters = get(facts, "parameters", run.parameters);
  run.train_samples = get<std::int64_t>(facts, "train_samples");
  run.test_samples = get<std::int64_t>(facts, "test_samples");
  run.planned_epochs = get<std::int64_t>(facts, "epochs");
  run.steps_per_epoch = get<std::int64_t>(facts, "steps_per_epoch");
  run.flops_per_sample = get(facts, "flops_per_sample", run.flops_per_sample);
  run.arena_bytes = get(facts, "arena_bytes", run.arena_bytes);
  run.weight_bytes = get(facts, "weight_bytes", run.weight_bytes);
  run.batching = get<std::string>(facts, "batching"), run.strategy = get<std::string>(facts, "strategy");
  run.placement = get<std::string>(facts, "placement"), run.precision = get<std::string>(facts, "precision");
  if (facts.contains("plan")) read_plan(run, facts["plan"]);
}

ProfiledStep profiled(const Json& line) {
  ProfiledStep step{.step = get<std::int64_t>(line, "step"), .seconds = get<double>(line, "seconds")};
  step.hidden_exchange_seconds = get<double>(line, "hidden_exchange_seconds");
  for (int c = 0; c < category_count && line.contains("totals"); ++c) {
    const std::string name(category_name(static_cast<Category>(c)));
    const Json& totals = line["totals"];
    if (!totals.is_object() || !totals.contains(name)) continue;
    step.totals[static_cast<std::size_t>(c)] = {get<std::int64_t>(totals[name], "events"),
                                                get<double>(totals[name], "seconds"),
                                                get<double>(totals[name], "flops"), get<double>(totals[name], "bytes")};
  }
  return step;
}

void read_profiles(RunRecord& run) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(run.folder / "profile", none)) {
    const std::vector<Json> lines = read_json_lines(entry.path());
    if (lines.empty() || get<std::string>(lines[0], "kind") != "start") continue;
    RankRecord rank{get(lines[0], "rank", 0), get(lines[0], "node", 0), get<std::string>(lines[0], "host")};
    for (const Json& line : lines)
      if (get<std::string>(line, "kind") == "step") rank.steps.push_back(profiled(line));
    run.by_rank.push_back(std::move(rank));
  }
  std::ranges::sort(run.by_rank, {}, &RankRecord::rank);
}

void read_pictures(RunRecord& run) {
  const fs::path folder = run.folder / "pictures";
  const Json list = read_json(folder / "pictures.json");
  if (!list.is_array()) return;
  for (const Json& entry : list) {
    // Only files of that folder: the list may come from elsewhere.
    const fs::path file = fs::path(get<std::string>(entry, "file")).filename();
    std::error_code none;
    if (file.empty() || !fs::is_regular_file(folder / file, none)) continue;
    run.pictures.push_back({get<std::string>(entry, "kind"), get<std::string>(entry, "title"),
                            get<std::string>(entry, "caption"), folder / file});
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Of the steps that were timed, those behind the warm-up.
std::vector<const StepRecord*> timed(const RunRecord& run) {
  std::vector<const StepRecord*> steps;
  for (const StepRecord& step : run.steps)
    if (step.seconds > 0) steps.push_back(&step);
  if (steps.size() > 6) steps.erase(steps.begin(), steps.begin() + 3);
  return steps;
}

}  // namespace

std::vector<Json> read_json_lines(const fs::path& file) {
  std::ifstream in(file);
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) {
    Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) break;
    lines.push_back(std::move(object));
  }
  return lines;
}

std::string RunRecord::model() const { return recipe.find("model") ? Args(recipe, "recipe").spec("model").str() : ""; }

std::string RunRecord::model_name() const {
  return recipe.find("model") ? Args(recipe, "recipe").spec("model").name() : "";
}

double RunRecord::step_seconds() const {
  std::vector<double> seconds;
  for (const StepRecord* step : timed(*this)) seconds.push_back(step->seconds);
  return median(std::move(seconds));
}

double RunRecord::samples_per_second() const {
  std::vector<double> rates;
  for (const StepRecord* step : timed(*this)) rates.push_back(static_cast<double>(step->samples) / step->seconds);
  return median(std::move(rates));
}

std::array<CategoryTotal, category_count> RunRecord::totals(const RankRecord& rank) const {
  std::array<CategoryTotal, category_count> sums{};
  for (const ProfiledStep& step : rank.steps)
    for (std::size_t c = 0; c < sums.size(); ++c) {
      sums[c].events += step.totals[c].events;
      sums[c].seconds += step.totals[c].seconds;
      sums[c].flops += step.totals[c].flops;
      sums[c].bytes += step.totals[c].bytes;
    }
  return sums;
}

RunRecord read_run(const fs::path& folder) {
  std::error_code none;
  if (!fs::is_regular_file(folder / "recipe.toml", none))
    fail("'{}' is not the folder of a run: it has no recipe.toml (isobar train writes one, in runs/ by default)",
         folder.string());
  RunRecord run{.folder = folder};
  run.recipe = read_recipe(folder / "recipe.toml");
  read_metrics(run);
  read_timing(run);
  read_facts(run);
  read_profiles(run);
  read_pictures(run);
  return run;
}

// Line by line, as it is written, so that a trace cut off in the middle is read up to there.
std::vector<TraceEvent> read_trace(const fs::path& folder, int rank) {
  std::ifstream in(folder / "trace" / fmt::format("rank{}.json", rank));
  std::vector<TraceEvent> events;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] == '[') line.erase(0, 1);
    while (!line.empty() && (line.back() == ',' || line.back() == ']' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!event.is_object()) break;
    const auto thread = get<std::int64_t>(event, "tid");
    if (get<std::string>(event, "ph") != "X" || thread < 1) continue;
    const Json arguments = event.value("args", Json::object());
    events.push_back({get<std::string>(event, "name"), get<std::string>(event, "cat"),
                      thread == 1                     ? Lane::main
                      : thread == 2 || thread >= 1000 ? Lane::exchange
                                                      : Lane::reader,
                      get<std::int64_t>(arguments, "step"), get<double>(event, "ts") * 1e-6,
                      get<double>(event, "dur") * 1e-6, get<double>(arguments, "flops"),
                      get<double>(arguments, "bytes")});
  }
  return events;
}

}  // namespace isobar::report
