#include "isobar/train/history.hpp"

#include <chrono>
#include <fstream>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "isobar/disk/late_file.hpp"

namespace isobar::train {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

struct Dropped {
  std::int64_t steps = 0;
  double seconds = 0;
};

double number(const OrderedJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

// What timing.jsonl holds after the part that a run continuing after `first_step` keeps: the end of the previous run,
// steps after the checkpoint, and everything that follows them.
Dropped dropped_by(const fs::path& timing, std::int64_t first_step) {
  Dropped dropped;
  std::ifstream in(timing);
  bool kept = first_step > 0;
  for (std::string line; std::getline(in, line);) {
    const OrderedJson object = OrderedJson::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object() || !object.contains("kind")) continue;
    kept = kept && object["kind"] != "end" && number(object, "step") <= static_cast<double>(first_step);
    if (kept) continue;
    if (object["kind"] == "step") ++dropped.steps;
    if (object["kind"] == "step" || object["kind"] == "checkpoint") dropped.seconds += number(object, "seconds");
    if (object["kind"] == "epoch") dropped.seconds += number(object, "test_seconds");
  }
  return dropped;
}

// A line cut off by a crash must not swallow the next.
bool ends_in_mid_line(const fs::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() == 0) return false;
  in.seekg(-1, std::ios::end);
  return in.get() != '\n';
}

}  // namespace

void note_start(const fs::path& folder, std::string_view kind, std::int64_t first_step, std::string_view launch) {
  const Dropped dropped = dropped_by(folder / "timing.jsonl", first_step);
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  OrderedJson line{{"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
                   {"kind", kind},
                   {"first_step", first_step},
                   {"dropped_steps", dropped.steps},
                   {"dropped_seconds", dropped.seconds}};
  if (!launch.empty()) line["launch"] = launch;
  const fs::path file = folder / "history.jsonl";
  const bool torn = ends_in_mid_line(file);
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(file, none);
  disk::LateFile out(file, none ? 0 : static_cast<std::int64_t>(bytes));
  out.append((torn ? "\n" : "") + line.dump() + "\n");
  out.flush();
  out.leave();
}

bool was_launched_by(const fs::path& folder, std::string_view launch) {
  if (launch.empty()) return false;
  std::string by;
  std::ifstream in(folder / "history.jsonl");
  for (std::string text; std::getline(in, text);) {
    const OrderedJson line = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) continue;
    const auto found = line.find("launch");
    by = found != line.end() && found->is_string() ? found->get<std::string>() : "";
  }
  return by == launch;
}

}  // namespace isobar::train
