#include "isobar/report/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t most_folders = 400;

double number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::int64_t whole(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Setup setup_of(const Json& start) {
  Setup setup;
  setup.ranks = std::clamp<std::int64_t>(whole(start, "ranks"), 1, 1 << 30);
  setup.threads = std::clamp<std::int64_t>(whole(start, "threads"), 1, 1 << 30);
  setup.global_batch = whole(start, "global_batch");
  if (start.contains("staging_seconds")) setup.staging_seconds = number(start, "staging_seconds");
  return setup;
}

void read_timing(Ledger& ledger, const fs::path& file) {
  for (const Json& line : record::read_json_lines(file)) {
    const std::string kind = text(line, "kind");
    if (kind == "start" || kind == "members") {
      ledger.setups.push_back(setup_of(line));
    } else if (kind == "step") {
      ++ledger.steps;
      ledger.samples += whole(line, "samples");
      ledger.step_seconds += number(line, "seconds");
      ledger.wait_seconds += number(line, "wait_seconds");
    } else if (kind == "epoch") {
      ledger.test_seconds += number(line, "test_seconds");
      ledger.epochs.emplace_back(whole(line, "epoch"), ledger.kept_seconds());
    } else if (kind == "checkpoint") {
      ledger.checkpoint_seconds += number(line, "seconds");
    }
  }
}

// A line torn by a crash is skipped; the lines after it count.
void read_history(Ledger& ledger, const fs::path& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const Json start = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!start.is_object()) continue;
    ledger.has_history = true;
    ++ledger.starts;
    ledger.resumed += text(start, "kind") == "resumed";
    ledger.overwritten += text(start, "kind") == "overwritten";
    ledger.dropped_steps += whole(start, "dropped_steps");
    ledger.dropped_seconds += number(start, "dropped_seconds");
  }
}

std::string network_of(const Spec& recipe) {
  return recipe.find("model") ? Args(recipe, "recipe").spec("model").name() : "";
}

std::optional<Spec> recipe_in(const fs::path& folder) {
  std::error_code none;
  if (!fs::is_regular_file(folder / "recipe.toml", none)) return std::nullopt;
  try {
    return read_recipe(folder / "recipe.toml");
  } catch (const Error&) {
    return std::nullopt;  // not a file of ours
  }
}

}  // namespace

double Ledger::staging_seconds() const {
  double sum = 0;
  for (const Setup& setup : setups) sum += setup.staging_seconds.value_or(0);
  return sum;
}

std::string short_seconds(double seconds) {
  return seconds < 100 ? fmt::format("{:.3g} s", seconds) : human_seconds(seconds);
}

std::string told_speed(double samples_per_second) {
  if (samples_per_second < 1000) return fmt::format("{:.4g} samples/s", samples_per_second);
  return with_commas(std::llround(std::min(samples_per_second, 1e15))) + " samples/s";
}

Ledger read_ledger(const fs::path& folder) {
  Ledger ledger;
  read_timing(ledger, folder / "timing.jsonl");
  read_history(ledger, folder / "history.jsonl");
  return ledger;
}

std::string training_data(const Spec& recipe) {
  if (!recipe.find("data")) return "";
  Args root(recipe, "recipe");
  Args data = root.section("data");
  return data.has("train") ? data.spec("train").str() : "";
}

Siblings siblings_of(const record::RunRecord& run, std::uintmax_t most_bytes) {
  std::error_code none;
  const fs::path own = fs::weakly_canonical(run.folder, none);
  Siblings siblings;
  std::vector<fs::path> folders;
  // Runs may start or be removed there meanwhile.
  for (fs::directory_iterator entry(own.parent_path(), none), end; !none && entry != end; entry.increment(none)) {
    std::error_code gone;
    if (!entry->is_directory(gone) || entry->path() == own) continue;
    if (folders.size() == most_folders) {
      siblings.all = false;
      break;
    }
    folders.push_back(entry->path());
  }
  std::ranges::sort(folders);
  for (const fs::path& folder : folders) {
    std::optional<Spec> recipe = recipe_in(folder);
    try {
      if (!recipe || network_of(*recipe) != run.model_name() || training_data(*recipe) != training_data(run.recipe))
        continue;
    } catch (const Error&) {
      continue;  // a recipe whose model or data is not a Spec
    }
    const std::uintmax_t bytes = fs::file_size(folder / "timing.jsonl", none);
    if (!none && bytes > most_bytes) {
      siblings.all = false;
      continue;
    }
    if (!none) most_bytes -= bytes;
    siblings.runs.push_back({folder, std::move(*recipe), read_ledger(folder)});
  }
  return siblings;
}

}  // namespace isobar::report
