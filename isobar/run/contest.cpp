#include "isobar/run/contest.hpp"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/record/json_member.hpp"
#include "isobar/run/contest_progress.hpp"

namespace isobar::run {

namespace fs = std::filesystem;

namespace {

using ContestJson = nlohmann::ordered_json;

// With what it keeps in the folder the run can go on.
bool has_checkpoint(const fs::path& run) {
  std::error_code none;
  return fs::is_directory(run / "checkpoints", none) && !fs::is_empty(run / "checkpoints", none);
}

std::vector<report::StudyRun> planned_runs(const ContestSetting& setting) {
  std::vector<std::string> folders;
  for (const std::string& strategy : setting.strategies) {
    const std::string name = folder_name(strategy);
    const auto same = std::ranges::count(folders, name);
    folders.push_back(same > 0 ? fmt::format("{}-{}", name, same + 1) : name);
  }
  std::vector<report::StudyRun> runs;
  for (std::size_t round = 0; round < setting.seeds.size(); ++round)
    for (std::size_t turn = 0; turn < setting.strategies.size(); ++turn) {
      const std::size_t s = (turn + round) % setting.strategies.size();
      runs.push_back({setting.strategies[s], setting.seeds[round],
                      setting.folder / folders[s] / fmt::format("seed-{}", setting.seeds[round])});
    }
  return runs;
}

}  // namespace

std::string folder_name(const std::string& strategy) {
  std::string name;
  for (const char c : strategy) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_';
    if (plain) name += c;
    else if (!name.empty() && name.back() != '-') name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

std::string failure_in(const fs::path& output, int code) {
  std::ifstream in(output);
  std::string found;
  for (std::string line; std::getline(in, line);)
    if (const std::size_t at = line.find("isobar: "); at != std::string::npos)
      found = line.substr(at + std::string_view("isobar: ").size());
  return found.empty() ? fmt::format("ended with code {}; its output is in {}", code, output.filename().string())
                       : one_line(found, 400);
}

StrategyContest::StrategyContest(ContestSetting setting, Found found)
    : setting_(std::move(setting)), runs_(planned_runs(setting_)) {
  const bool there = fs::exists(file());
  if (there && found == Found::refuse)
    fail(
        "folder '{}' already holds a comparison: --resume continues it, --overwrite replaces it, --folder names "
        "another",
        setting_.folder.string());
  if (!there && found == Found::resume)
    fail("folder '{}' holds no comparison that could be resumed", setting_.folder.string());
  if (found == Found::resume) {
    take_up();
  } else if (there) {
    for (const report::StudyRun& run : runs_) fs::remove_all(run.folder);
    fs::remove(file());
  }
  fs::create_directories(setting_.folder);
  keep();
}

// A comparison may be resumed with more strategies or seeds, and with another target.
void StrategyContest::take_up() {
  std::ifstream in(file());
  const nlohmann::json kept = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!kept.is_object()) fail("'{}' is not the record of a comparison", file().string());
  if (record::member<std::string>(kept, "sameness") != setting_.sameness)
    fail(
        "the comparison in '{}' was begun with another recipe, number of ranks or option, and its runs would not "
        "compare: --overwrite replaces it, --folder names another",
        setting_.folder.string());
  for (const nlohmann::json& each : kept.value("runs", nlohmann::json::array())) {
    const auto run = std::ranges::find_if(runs_, [&](const report::StudyRun& mine) {
      return mine.strategy == record::member<std::string>(each, "strategy") &&
             mine.seed == record::member<std::int64_t>(each, "seed");
    });
    if (run == runs_.end()) continue;
    run->failure = record::member<std::string>(each, "failure");
    run->peak_bytes = record::member<double>(each, "peak_bytes");
    run->folder = setting_.folder / record::member<std::string>(each, "folder");
    if (!fs::exists(run->folder)) run->failure.clear();
  }
}

void StrategyContest::keep() const {
  ContestJson runs = ContestJson::array();
  for (const report::StudyRun& run : runs_)
    runs.push_back({{"strategy", run.strategy},
                    {"seed", run.seed},
                    {"folder", run.folder.lexically_relative(setting_.folder).string()},
                    {"failure", run.failure},
                    {"peak_bytes", run.peak_bytes}});
  const ContestJson all{{"sameness", setting_.sameness}, {"runs", std::move(runs)}};
  disk::write_text(file(), all.dump(2, ' ', false, ContestJson::error_handler_t::replace) + "\n");
}

bool StrategyContest::has_ended(const report::StudyRun& run) const {
  if (!run.failure.empty()) return true;
  return record::is_run(run.folder) && record::read_run(run.folder).reason == "finished";
}

std::size_t StrategyContest::done() const {
  return static_cast<std::size_t>(std::ranges::count_if(runs_, [&](const auto& run) { return has_ended(run); }));
}

bool StrategyContest::run(const std::function<ContestEnd(const ContestStart&)>& start, const std::atomic<bool>& stop,
                          const record::Screen& screen, const std::function<void()>& ended) {
  ContestProgress progress(screen);
  for (std::size_t i = 0; i < runs_.size() && !stop; ++i) {
    report::StudyRun& run = runs_[i];
    if (has_ended(run)) continue;
    const auto rest = std::span(runs_).subspan(i + 1);
    const auto left = std::ranges::count_if(rest, [&](const report::StudyRun& other) { return !has_ended(other); });
    fs::create_directories(run.folder.parent_path());
    fs::path output = run.folder;
    output += ".txt";
    progress.begin(
        {i + 1, runs_.size(), static_cast<std::size_t>(left), fmt::format("{}, seed {}", run.strategy, run.seed)},
        run.folder);
    const ContestEnd end = start({run, has_checkpoint(run.folder), output, [&] { progress.look(); }});
    run.peak_bytes = std::max(run.peak_bytes, end.peak_bytes);
    const bool finished = has_ended(run), stopped = !finished && (stop || end.stopped);
    if (!finished && !stopped) run.failure = failure_in(output, end.code);
    keep();
    progress.close(finished ? "finished" : stopped ? "stopped" : "failed: " + run.failure);
    if (!stopped) ended();
  }
  return done() == runs_.size();
}

}  // namespace isobar::run
