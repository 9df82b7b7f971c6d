// isobar compare RECIPE --strategies "sync; lagged(k=1); ..." --ranks 4: trains a recipe with several strategies and
// seeds, one run after the other, and shows which strategy gets there first.
#include <algorithm>
#include <filesystem>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/launcher.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/parallel/slowed.hpp"
#include "isobar/run/contest.hpp"
#include "isobar/run/models.hpp"
#include "isobar/run/placed_ranks.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* compare_explanation =
    "Every run is one of 'isobar train' under the launcher of this machine, with all ranks: those that\n"
    "serve parameters are among them, so that all strategies have the same machine. Runs take turns, seed\n"
    "by seed. A run that fails or diverges is a row of the table, with the reason.\n\n"
    "  isobar compare recipe.toml --ranks 4 --strategies \"sync; lagged(k=1); stale(bound=3)\"\n"
    "  isobar compare recipe.toml --ranks 4 --strategies \"sync; local(steps=8)\" --seeds 3\n"
    "                 --target accuracy>=0.75 --slow 1:3\n\n"
    "Ctrl-C stops the run under way with a checkpoint; the same command with --resume continues it, and\n"
    "repeats none that has ended. To repeat a run that failed, remove its folder first.";

struct CompareOptions {
  std::string recipe, strategies, target, slow, folder, launcher;
  std::vector<std::string> settings;
  int ranks = 4, seeds = 1, threads = 0, per_node = 0;
  bool resume = false, overwrite = false;
};

std::vector<std::string> strategies_in(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string each = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = each.find_first_not_of(" \n\t");
    if (first == std::string::npos) continue;
    found.push_back(each.substr(first, each.find_last_not_of(" \n\t") - first + 1));
    if (std::ranges::count(found, found.back()) > 1) fail_usage("compare: --strategies names '{}' twice", found.back());
  }
  if (found.empty()) fail_usage("compare: --strategies names none: --strategies \"sync; lagged(k=1)\"");
  return found;
}

std::optional<train::Target> target_in(const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    return train::read_target(text);
  } catch (const UsageError&) {
    fail_usage("compare: --target '{}': write a metric and the value to reach, such as accuracy>=0.75 or loss<=0.1",
               one_line(text));
  }
}

// The name of the set in front, if it is named: that by which runs of the recipe are judged.
void take_set_off(train::Target& target, const train::Job& job) {
  const std::string set = job.validation.exists() ? "validation." : "test.";
  if (target.metric.starts_with(set)) target.metric = target.metric.substr(set.size());
  train::expect_judged(target.metric, job.validation.exists(), "compare: --target");
}

void expect_metric(const train::Target& target, const train::Job& job) {
  if (!job.test_data && !job.validation.exists())
    fail_usage("compare: --target {} needs data.validation or data.test in the recipe: it is judged there",
               target.str());
  std::vector<std::string> known{"loss"};
  Args recipe(job.recipe, "recipe");
  for (const std::string& metric : recipe.section("train").texts("metrics", {})) {
    const Spec spec(metric);
    known.push_back(spec.name() == "top_k" ? "top_" : spec.name());
  }
  const std::string name = target.metric.substr(0, target.metric.find('.'));
  const bool is_known = std::ranges::any_of(
      known, [&](const std::string& each) { return each == "top_" ? name.starts_with(each) : name == each; });
  if (!is_known)
    fail_usage("compare: --target {}: the recipe does not evaluate '{}'{}", target.str(), target.metric,
               suggestion(name, known));
}

/// What is asked, as it was understood.
struct Asked {
  run::ContestSetting contest;
  std::string strategy_key = "parallel.strategy";
  std::optional<train::Target> target{};
};

// Everything that can be wrong with a strategy shows before the first run.
void expect_sound(Asked& asked, const CompareOptions& options, const Spec& recipe) {
  datasets::Survey survey;
  for (const std::string& strategy : asked.contest.strategies) {
    Spec with = recipe;
    apply_setting(with, fmt::format("{}={}", asked.strategy_key, strategy));
    const train::Job job = run::read_job(with, "compare", survey);
    run::place_ranks(job, options.ranks, options.per_node > 0 ? options.per_node : options.ranks);
    parallel::slowness(job.recipe, job.strategy->roles(options.ranks), 0);
    if (!asked.target) continue;
    take_set_off(*asked.target, job);
    expect_metric(*asked.target, job);
  }
}

Asked asked_in(const CompareOptions& options) {
  Asked asked{{strategies_in(options.strategies)}};
  asked.contest.folder = options.folder.empty()
                             ? fs::path("runs") / ("compare-" + fs::path(options.recipe).stem().string())
                             : fs::path(options.folder);
  asked.target = target_in(options.target);
  Spec recipe = read_recipe(options.recipe);
  for (const std::string& each : options.settings) apply_setting(recipe, each);
  if (!options.slow.empty()) apply_setting(recipe, fmt::format("parallel.slow='{}'", options.slow));
  if (recipe.find("strategy")) asked.strategy_key = "strategy";  // older recipes have it at their top
  const std::int64_t first = Args(recipe, "recipe").integer("seed", 1);
  asked.contest.seeds.clear();
  for (int i = 0; i < options.seeds; ++i) asked.contest.seeds.push_back(first + i);
  expect_sound(asked, options, recipe);
  asked.contest.sameness = fmt::format("{}ranks = {}\nthreads = {}\nper_node = {}\n", write_recipe(recipe),
                                       options.ranks, options.threads, options.per_node);
  return asked;
}

std::vector<std::string> command_of(const CompareOptions& options, const Asked& asked, const run::ContestStart& start) {
  std::vector<std::string> words = launch_words(options.ranks, options.launcher);
  for (const std::string& word : {this_program(), std::string("train"), options.recipe}) words.push_back(word);
  const auto set = [&](const std::string& setting) {
    words.emplace_back("--set");
    words.push_back(setting);
  };
  for (const std::string& setting : options.settings) set(setting);
  set(fmt::format("{}={}", asked.strategy_key, start.run.strategy));
  set(fmt::format("seed={}", start.run.seed));
  set(fmt::format("folder={}", start.run.folder.string()));
  if (!options.slow.empty()) set(fmt::format("parallel.slow='{}'", options.slow));
  if (asked.target) set(fmt::format("report.target='{}'", asked.target->str()));
  words.emplace_back("--quiet");
  words.emplace_back(start.resumes ? "--resume" : "--overwrite");
  if (options.threads > 0)
    for (const std::string& word : {std::string("--threads"), std::to_string(options.threads)}) words.push_back(word);
  return words;
}

run::ContestEnd started(const CompareOptions& options, const Asked& asked, const run::ContestStart& start) {
  ChildCommand child{command_of(options, asked, start), start.output, start.meanwhile};
  if (options.per_node > 0) child.environment = {{"ISOBAR_RANKS_PER_NODE", std::to_string(options.per_node)}};
  const ChildEnd end = run_child(child);
  return {end.code, end.code == exit_interrupted, end.peak_bytes};
}

void write_study(const report::StrategyStudy& study, const fs::path& folder) {
  disk::write_text(folder / "results.csv", report::study_csv(study));
  disk::write_text(folder / "results.json", report::study_json(study));
  disk::write_text(folder / "page.html", report::study_html(study, folder));
}

int run_compare(const CompareOptions& options) {
  using Found = run::StrategyContest::Found;
  const Asked asked = asked_in(options);
  const fs::path& folder = asked.contest.folder;
  run::StrategyContest contest(asked.contest, options.resume      ? Found::resume
                                              : options.overwrite ? Found::overwrite
                                                                  : Found::refuse);
  const report::StudySetting setting{fs::path(options.recipe).stem().string(), asked.contest.strategies, options.ranks,
                                     options.slow, asked.target};
  const auto study = [&] { return report::study_strategies(setting, contest.runs()); };
  const bool whole = contest.run([&](const run::ContestStart& start) { return started(options, asked, start); },
                                 stop_requested(), record::Screen::of(stderr), [&] { write_study(study(), folder); });
  const report::StrategyStudy result = study();
  write_study(result, folder);
  fmt::print("{}written: {}/page.html, results.csv, results.json\n", report::study_text(result), folder.string());
  if (!whole) {
    fmt::print(stderr, "isobar: stopped; {} of {} runs have ended, and the same command with --resume continues\n",
               contest.done(), contest.runs().size());
    return exit_interrupted;
  }
  if (std::ranges::none_of(result.strategies, [](const auto& strategy) { return strategy.finished > 0; }))
    fail("compare: no run finished; the notes above say why");
  return 0;
}

void declare_compare(CLI::App& command) {
  auto options = std::make_shared<CompareOptions>();
  command.footer(compare_explanation);
  command.add_option("recipe", options->recipe, "TOML file of the runs to compare")->required();
  command.add_option("--strategies", options->strategies, "those to compare, between semicolons")
      ->type_name("\"SPEC; SPEC\"")
      ->required();
  command.add_option("-n,--ranks", options->ranks, "ranks of every run, those that serve included")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command.add_option("--seeds", options->seeds, "runs of each strategy, with seeds that follow the recipe's")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--target", options->target,
                  "the time to reach it is compared: accuracy>=0.75 (default: what all runs reached)")
      ->type_name("METRIC>=VALUE");
  command.add_option("--slow", options->slow, "ranks made slower for an experiment: 1:3 is rank 1, three times slower")
      ->type_name("RANK:TIMES");
  command.add_option("--set", options->settings, "change one key of the recipe: --set train.epochs=1")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--threads", options->threads, "threads of every rank (default: its share of the cores)")
      ->check(CLI::Range(1, 4096));
  command
      .add_option("--per-node", options->per_node,
                  "ranks that count as one node: between nodes they send messages (default: all)")
      ->check(CLI::Range(1, 4096));
  command.add_option("--folder", options->folder, "where runs and page are kept (default: runs/compare-RECIPE)");
  command.add_option("--launcher", options->launcher, "how to start ranks: 'srun -n {}' (default: mpiexec)");
  auto* resume = command.add_flag("--resume", options->resume, "continue the comparison that is in the folder");
  command.add_flag("--overwrite", options->overwrite, "replace the comparison that is in the folder")->excludes(resume);
  command.callback([options] {
    catch_signals(true);
    if (const int code = run_compare(*options); code != 0) throw CLI::RuntimeError(code);
  });
}

}  // namespace

extern const Verb compare_verb{"compare", "train a recipe with several strategies and compare: which gets there first?",
                               declare_compare};

}  // namespace isobar::cli
