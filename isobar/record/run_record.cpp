#include "isobar/record/run_record.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/record/exchange_json.hpp"
#include "isobar/record/median.hpp"
#include "isobar/record/trace_row.hpp"

namespace isobar::record {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

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
    const auto kind = member<std::string>(line, "kind");
    const auto step = member<std::int64_t>(line, "step"), epoch = member<std::int64_t>(line, "epoch");
    if (kind == "step") {
      StepRecord record{.step = step, .epoch = epoch};
      record.loss = member<double>(line, "loss");
      record.learning_rate = member<double>(line, "learning_rate");
      run.steps.push_back(record);
    } else if (kind == "epoch") {
      EpochRecord record{.epoch = epoch, .step = step};
      record.train_loss = member<double>(line, "train_loss");
      record.test = member_numbers(line, "test");
      record.validation = member_numbers(line, "validation");
      run.epochs.push_back(record);
    } else if (kind == "bad_step") {
      run.bad = bad_steps(line);
    } else if (kind == "end") {
      run.reason = member<std::string>(line, "reason");
      run.test = member_numbers(line, "test");
    }
  }
}

template <class Record>
Record* find(std::vector<Record>& records, std::int64_t Record::*key, std::int64_t value) {
  const auto found = std::ranges::lower_bound(records, value, {}, key);
  return found != records.end() && (*found).*key == value ? &*found : nullptr;
}

void read_session_end(RecordedSession& session, const Json& line) {
  session.seconds = member<double>(line, "seconds");
  session.step_seconds = member<double>(line, "step_seconds");
  if (line.contains("exchange")) {
    session.exchange_waited = member<double>(line["exchange"], "waited_seconds");
    session.exchange_busy = member<double>(line["exchange"], "busy_seconds");
  }
  session.staging = member_numbers(line, "staging");
  session.exchanged = member<std::string>(line, "exchanged");
}

void read_timing(RunRecord& run) {
  for (const Json& line : read_json_lines(run.folder / "timing.jsonl")) {
    const auto kind = member<std::string>(line, "kind");
    if (kind == "start") {
      run.sessions.push_back({.first_step = member<std::int64_t>(line, "step")});
      run.ranks = member(line, "ranks", 1), run.nodes = member(line, "nodes", 1),
      run.threads = member(line, "threads", 1);
      run.global_batch = member<std::int64_t>(line, "global_batch");
      run.parameters = member<std::int64_t>(line, "parameters");
      run.flops_per_sample = member<double>(line, "flops_per_sample");
      run.arena_bytes = member<double>(line, "arena_bytes"), run.weight_bytes = member<double>(line, "weight_bytes");
    } else if (kind == "members" && line.contains("change")) {
      for (train::MembersChange& change : train::changes_in("[" + line["change"].dump() + "]"))
        run.changes.push_back(std::move(change));
    } else if (kind == "step") {
      StepRecord* step = find(run.steps, &StepRecord::step, member<std::int64_t>(line, "step"));
      if (!step) continue;
      step->samples = member<std::int64_t>(line, "samples");
      step->seconds = member<double>(line, "seconds");
      step->wait_seconds = member<double>(line, "wait_seconds");
      step->exchange_seconds = member<double>(line, "exchange_seconds");
      step->bytes_sent = member<std::int64_t>(line, "bytes_sent");
      step->costs = {cost_in(line, "gradients"), cost_in(line, "messages")};
    } else if (kind == "epoch") {
      EpochRecord* epoch = find(run.epochs, &EpochRecord::epoch, member<std::int64_t>(line, "epoch"));
      if (!epoch) continue;
      epoch->train_seconds = member<double>(line, "train_seconds");
      epoch->test_seconds = member<double>(line, "test_seconds");
    } else if (kind == "end" && !run.sessions.empty()) {
      read_session_end(run.sessions.back(), line);
    }
  }
}

void read_messages(RunRecord& run, const Json& plan) {
  for (const Json& each : plan.value("messages", Json::array())) {
    PlannedMessages made{member<std::string>(each, "node"), member<std::string>(each, "circle")};
    made.sent = {member<std::int64_t>(each, "messages"), member<std::int64_t>(each, "bytes")};
    if (each.is_object() && each.contains("partners") && each["partners"].is_array())
      for (const Json& partner : each["partners"])
        if (partner.is_number_unsigned()) made.partners.push_back(partner.get<int>());
    run.messages.push_back(std::move(made));
  }
}

void read_plan(RunRecord& run, const Json& plan) {
  run.fingerprint = member<std::string>(plan, "fingerprint");
  run.forward_steps = member<std::size_t>(plan, "forward_steps");
  run.again_steps = member<std::int64_t>(plan, "again_steps");
  run.again_flops = member<double>(plan, "again_flops");
  run.kept_arena_bytes = member<double>(plan, "kept_arena_bytes");
  run.inputs = pairs(plan, "inputs");
  if (!plan.is_object()) return;
  run.plan_rows = member<std::int64_t>(plan, "rows");
  for (const Json& parameter : plan.value("parameters", Json::array()))
    run.plan_parameters.push_back({member<std::string>(parameter, "name"), member<std::int64_t>(parameter, "numbers"),
                                   parameter.is_object() && parameter.value("trained", Json()) != Json(false)});
  read_messages(run, plan);
  if (!plan.contains("steps") || !plan["steps"].is_array()) return;
  for (const Json& step : plan["steps"]) {
    run.plan.push_back({member<std::string>(step, "name"), member<std::string>(step, "kernel"),
                        member<std::string>(step, "category"), member<std::string>(step, "shape"),
                        member<double>(step, "flops"), member<double>(step, "bytes"),
                        member<double>(step, "live_bytes")});
    run.plan.back().talk = member<std::string>(step, "talk");
    if (!step.is_object() || !step.contains("final") || !step["final"].is_array()) continue;
    for (const Json& place : step["final"])
      if (place.is_number_unsigned() && place.get<std::size_t>() < run.plan_parameters.size())
        run.plan.back().final_parameters.push_back(place.get<int>());
  }
}

void read_facts(RunRecord& run) {
  const Json facts = read_json(run.folder / "run.json");
  if (!facts.is_object()) return;
  run.described = true;
  run.started = member<std::string>(facts, "started"), run.command = member<std::string>(facts, "command");
  run.versions = pairs(facts, "versions"), run.machine = pairs(facts, "machine");
  if (facts.contains("peaks"))
    run.peaks = {member<double>(facts["peaks"], "flops_per_second"), member<double>(facts["peaks"], "bytes_per_second"),
                 member<std::string>(facts["peaks"], "how")};
  run.ranks = member(facts, "ranks", run.ranks), run.nodes = member(facts, "nodes", run.nodes);
  run.threads = member(facts, "threads", run.threads);
  run.global_batch = member(facts, "global_batch", run.global_batch);
  run.parameters = member(facts, "parameters", run.parameters);
  run.train_samples = member<std::int64_t>(facts, "train_samples");
  run.test_samples = member<std::int64_t>(facts, "test_samples");
  run.validation_samples = member<std::int64_t>(facts, "validation_samples");
  run.planned_epochs = member<std::int64_t>(facts, "epochs");
  run.steps_per_epoch = member<std::int64_t>(facts, "steps_per_epoch");
  run.flops_per_sample = member(facts, "flops_per_sample", run.flops_per_sample);
  run.arena_bytes = member(facts, "arena_bytes", run.arena_bytes);
  run.weight_bytes = member(facts, "weight_bytes", run.weight_bytes);
  run.batching = member<std::string>(facts, "batching"), run.strategy = member<std::string>(facts, "strategy");
  run.teams = member(facts, "teams", 1);
  run.ways = member(facts, "ways", 1), run.part = member<std::string>(facts, "part");
  run.placement = member<std::string>(facts, "placement"), run.precision = member<std::string>(facts, "precision");
  if (run.changes.empty() && facts.contains("members_changed"))  // a folder without timing.jsonl
    run.changes = train::changes_in(facts["members_changed"].dump());
  if (facts.contains("plan")) read_plan(run, facts["plan"]);
}

ProfiledStep profiled(const Json& line) {
  ProfiledStep step{.step = member<std::int64_t>(line, "step"), .seconds = member<double>(line, "seconds")};
  step.hidden_exchange_seconds = member<double>(line, "hidden_exchange_seconds");
  for (int c = 0; c < category_count && line.contains("totals"); ++c) {
    const std::string name(category_name(static_cast<Category>(c)));
    const Json& totals = line["totals"];
    if (!totals.is_object() || !totals.contains(name)) continue;
    step.totals[c] = {member<std::int64_t>(totals[name], "events"), member<double>(totals[name], "seconds"),
                      member<double>(totals[name], "flops"), member<double>(totals[name], "bytes")};
  }
  return step;
}

void read_profiles(RunRecord& run) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(run.folder / "profile", none)) {
    const std::vector<Json> lines = read_json_lines(entry.path());
    if (lines.empty() || member<std::string>(lines[0], "kind") != "start") continue;
    RankRecord rank{member(lines[0], "rank", 0), member(lines[0], "node", 0), member<std::string>(lines[0], "host"),
                    member<std::string>(lines[0], "role") == "serves"};
    for (const Json& line : lines)
      if (member<std::string>(line, "kind") == "step") rank.steps.push_back(profiled(line));
    run.by_rank.push_back(std::move(rank));
  }
  std::ranges::sort(run.by_rank, {}, &RankRecord::rank);
}

void read_pictures(RunRecord& run) {
  const fs::path folder = run.folder / "pictures";
  const Json list = read_json(folder / "pictures.json");
  if (!list.is_array()) return;
  for (const Json& entry : list) {
    // Only files in that folder: the list may come from elsewhere.
    const fs::path file = fs::path(member<std::string>(entry, "file")).filename();
    std::error_code none;
    if (file.empty() || !fs::is_regular_file(folder / file, none)) continue;
    run.pictures.push_back({member<std::string>(entry, "kind"), member<std::string>(entry, "title"),
                            member<std::string>(entry, "caption"), folder / file});
  }
}

// The timed steps after the warm-up.
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

train::BadSteps bad_steps(const Json& line) {
  return {member<std::int64_t>(line, "bad_steps"), member<std::int64_t>(line, "rewinds"),
          member(line, "rate_scale", 1.0)};
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

comm::ExchangeCosts RunRecord::exchange_costs() const {
  comm::ExchangeCosts sum;
  for (const StepRecord& step : steps) sum = sum + step.costs;
  return sum;
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

bool is_run(const fs::path& folder) {
  std::error_code none;
  return fs::is_regular_file(folder / "recipe.toml", none);
}

static RunRecord open_run(const fs::path& folder) {
  if (!is_run(folder))
    fail("'{}' is not the folder of a run: it has no recipe.toml (isobar train writes one, in runs/ by default)",
         folder.string());
  RunRecord run{.folder = folder};
  run.recipe = read_recipe(folder / "recipe.toml");
  return run;
}

RunRecord read_run_facts(const fs::path& folder) {
  RunRecord run = open_run(folder);
  read_facts(run);
  return run;
}

RunRecord read_run(const fs::path& folder) {
  RunRecord run = open_run(folder);
  read_metrics(run);
  read_timing(run);
  read_facts(run);
  read_profiles(run);
  read_pictures(run);
  return run;
}

// Line by line, as it was written, so that a truncated trace is read up to its end.
std::vector<TraceEvent> read_trace(const fs::path& folder, int rank) {
  std::ifstream in(folder / "trace" / fmt::format("rank{}.json", rank));
  std::vector<TraceEvent> events;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] == '[') line.erase(0, 1);
    while (!line.empty() && (line.back() == ',' || line.back() == ']' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!event.is_object()) break;
    const std::optional<TraceRow> row = TraceRow::of(member<int>(event, "tid"));
    if (member<std::string>(event, "ph") != "X" || !row) continue;
    const Json arguments = event.value("args", Json::object());
    events.push_back({member<std::string>(event, "name"), member<std::string>(event, "cat"), row->lane,
                      member<std::int64_t>(arguments, "step"), member<double>(event, "ts") * 1e-6,
                      member<double>(event, "dur") * 1e-6, member<double>(arguments, "flops"),
                      member<double>(arguments, "bytes")});
  }
  return events;
}

}  // namespace isobar::record
