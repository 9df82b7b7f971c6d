#include "isobar/bench/record.hpp"

#include <cmath>
#include <ctime>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"
#include "isobar/base/instructions.hpp"
#include "isobar/machine/machine.hpp"
#include "isobar/machine/versions.hpp"

namespace isobar::bench {
namespace {

using Json = nlohmann::json;

Json json_of(const Summary& s) { return {{"median", s.median}, {"low", s.low}, {"high", s.high}}; }

Json json_of(const Entry& e) {
  Json json{{"name", e.name}, {"seconds", json_of(e.seconds)}, {"runs", e.runs}};
  if (e.peak_bytes > 0) json["peak_bytes"] = e.peak_bytes;
  return json;
}

Json json_of(const MeasuredKernel& k) {
  return {{"name", k.name},   {"category", k.category}, {"shape", k.shape},    {"seconds", k.seconds},
          {"flops", k.flops}, {"bytes", k.bytes},       {"library", k.library}};
}

// A member that must be a finite number, not negative; without `otherwise` it is required.
double number(const Json& json, const char* key, const double* otherwise = nullptr) {
  const auto found = json.find(key);
  if (found == json.end() && otherwise) return *otherwise;
  if (found == json.end() || !found->is_number()) fail("'{}' is missing or not a number", key);
  const double value = found->get<double>();
  if (!std::isfinite(value) || value < 0) fail("'{}' is {}, which cannot have been measured", key, value);
  return value;
}

double number_or_0(const Json& json, const char* key) {
  constexpr double none = 0;
  return number(json, key, &none);
}

std::string text(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) fail("'{}' is missing or not a string", key);
  return found->get<std::string>();
}

// A member that is a list; empty if it is missing.
Json list(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return Json::array();
  if (!found->is_array()) fail("'{}' is not a list", key);
  return *found;
}

Json table(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return Json::object();
  if (!found->is_object()) fail("'{}' is not an object", key);
  return *found;
}

Summary summary_of(const Json& json) {
  const Summary s{number(json, "median"), number(json, "low"), number(json, "high")};
  if (s.low > s.median || s.median > s.high)
    fail("the median {} lies outside its interval, {} to {}", s.median, s.low, s.high);
  return s;
}

Entry entry_of(const Json& json) {
  if (!json.is_object()) fail("a contestant is not an object");
  return {text(json, "name"), summary_of(table(json, "seconds")), static_cast<int>(std::min(number(json, "runs"), 1e9)),
          number_or_0(json, "peak_bytes")};
}

MeasuredKernel kernel_of(const Json& json) {
  if (!json.is_object()) fail("a kernel of the profile is not an object");
  const auto library = json.find("library");
  return {text(json, "name"),
          text(json, "category"),
          text(json, "shape"),
          number(json, "seconds"),
          number(json, "flops"),
          number(json, "bytes"),
          library != json.end() && library->is_boolean() && library->get<bool>()};
}

}  // namespace

const Entry* Record::best_peer() const {
  const Entry* best = nullptr;
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (!best || entries[i].seconds.median < best->seconds.median) best = &entries[i];
  return best;
}

double Record::memory_ratio() const {
  const Entry* peer = best_peer();
  return peer && peer->peak_bytes > 0 ? ours().peak_bytes / peer->peak_bytes : 0;
}

double Record::over_bare() const { return bare_seconds > 0 ? ours().seconds.median / bare_seconds : 0; }

std::string record_line(const Record& record) {
  Json json{{"level", record.level}, {"name", record.name}, {"problem", record.problem}};
  for (const Entry& e : record.entries) json["entries"].push_back(json_of(e));
  if (record.speedup.median > 0) json["speedup"] = json_of(record.speedup);
  const std::pair<const char*, double> numbers[] = {{"flops", record.flops},
                                                    {"bytes", record.bytes},
                                                    {"samples", record.samples},
                                                    {"bare_seconds", record.bare_seconds},
                                                    {"workspace_bytes", record.workspace_bytes}};
  for (const auto& [key, value] : numbers)
    if (value > 0) json[key] = value;
  const std::pair<const char*, double> bars[] = {{"speed", record.asked.speed},
                                                 {"memory_ratio", record.asked.memory_ratio},
                                                 {"over_bare", record.asked.over_bare}};
  for (const auto& [key, value] : bars)
    if (value > 0) json["asked"][key] = value;
  for (const auto& [key, value] : record.facts) json["facts"].push_back({{"name", key}, {"value", value}});
  for (const MeasuredKernel& k : record.profile) json["profile"].push_back(json_of(k));
  json["where"] = {{"when", record.where.when},
                   {"machine", record.where.machine},
                   {"program", record.where.program},
                   {"threads", record.where.threads}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Record parse_record(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) fail("this is not JSON");
  if (!json.is_object()) fail("this is JSON, but not an object");
  Record record{text(json, "level"), text(json, "name"), text(json, "problem")};
  for (const Json& e : list(json, "entries")) record.entries.push_back(entry_of(e));
  if (record.entries.empty()) fail("'entries' has no contestant");
  if (json.contains("speedup")) record.speedup = summary_of(table(json, "speedup"));
  record.flops = number_or_0(json, "flops");
  record.bytes = number_or_0(json, "bytes");
  record.samples = number_or_0(json, "samples");
  record.bare_seconds = number_or_0(json, "bare_seconds");
  record.workspace_bytes = number_or_0(json, "workspace_bytes");
  const Json asked = table(json, "asked");
  record.asked = {number_or_0(asked, "speed"), number_or_0(asked, "memory_ratio"), number_or_0(asked, "over_bare")};
  for (const Json& fact : list(json, "facts")) {
    if (!fact.is_object()) fail("a fact is not an object");
    record.facts.emplace_back(text(fact, "name"), number(fact, "value"));
  }
  for (const Json& k : list(json, "profile")) record.profile.push_back(kernel_of(k));
  const Json where = table(json, "where");
  record.where = {text(where, "when"), text(where, "machine"), text(where, "program"),
                  static_cast<int>(std::min(number(where, "threads"), 1e6))};
  return record;
}

std::vector<Record> read_records(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) fail("bench: records '{}' cannot be read", file.string());
  std::vector<Record> records;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      records.push_back(parse_record(line));
    } catch (const Error& problem) {
      fail("bench: '{}' line {} is not a record of isobar bench: {}", file.string(), number, problem.what());
    }
  }
  return records;
}

Circumstances these_circumstances(int threads) {
  const machine::Machine machine = machine::this_machine();
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char when[32];
  std::strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {when,
          fmt::format("{}{}, {} cores, {:.0f} GB", machine.processor, machine.is_virtual ? " (virtual)" : "",
                      machine.cores, machine.memory_bytes * 1e-9),
          fmt::format("isobar {}, {}, used: {}", machine::program_version(), machine::program_build(),
                      name_of(instructions())),
          threads};
}

}  // namespace isobar::bench
