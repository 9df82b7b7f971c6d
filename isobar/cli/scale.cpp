// isobar scale RECIPE --ranks 1,2,4 --mode strong|weak: a scaling study on this machine: one run per number of ranks,
// one table, one picture.
#include <algorithm>
#include <filesystem>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/cli/launcher.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/report/comparison.hpp"
#include "isobar/report/scaling.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

struct ScaleOptions {
  std::string recipe, mode = "weak", strategy, folder, launcher;
  std::vector<int> ranks{1, 2};
  std::vector<std::string> settings;
  int threads = 1;
};

// The recipe's batch per rank, if given, or that of all ranks.
std::int64_t batch_of(const Spec& recipe) {
  Args root(recipe, "recipe");
  Args data = root.section("data");
  const std::int64_t of_rank = data.integer("batch_per_rank", 0);
  return of_rank > 0 ? of_rank : data.integer("batch", 4);
}

std::vector<std::string> command_of(const ScaleOptions& options, int ranks, std::int64_t batch,
                                    const fs::path& folder) {
  std::vector<std::string> words = launch_words(ranks, options.launcher);
  for (const std::string& word : {this_program(), std::string("train"), options.recipe}) words.push_back(word);
  const auto set = [&](const std::string& setting) {
    words.emplace_back("--set");
    words.push_back(setting);
  };
  for (const std::string& setting : options.settings) set(setting);
  set(fmt::format("folder={}", folder.string()));
  set(fmt::format("data.batch_per_rank={}", options.mode == "weak" ? batch : 0));
  set(fmt::format("data.batch={}", options.mode == "weak" ? 0 : batch));
  if (!options.strategy.empty()) set("strategy=" + options.strategy);
  for (const char* word : {"--overwrite", "--quiet", "--threads"}) words.emplace_back(word);
  words.push_back(std::to_string(options.threads));
  return words;
}

void run_scale(const ScaleOptions& options) {
  Spec recipe = read_recipe(options.recipe);
  for (const std::string& setting : options.settings) apply_setting(recipe, setting);
  const std::int64_t batch = batch_of(recipe);
  if (options.mode == "strong" && batch < *std::ranges::max_element(options.ranks))
    fail_usage("scale: strong scaling of a batch of {} on {} ranks leaves ranks without samples; --set data.batch=...",
               batch, *std::ranges::max_element(options.ranks));
  const fs::path folder = options.folder.empty()
                              ? fs::path("runs") / ("scale-" + fs::path(options.recipe).stem().string())
                              : fs::path(options.folder);
  const auto kind = options.mode == "strong" ? report::Scaling::strong : report::Scaling::weak;
  std::vector<fs::path> runs;
  for (const int ranks : options.ranks) {
    runs.push_back(folder / fmt::format("{}-{}-ranks", options.mode, ranks));
    fmt::print(stderr, "run {} of {}: {} rank{}\n", runs.size(), options.ranks.size(), ranks, ranks == 1 ? "" : "s");
    const int code = run_child({.words = command_of(options, ranks, batch, runs.back())}).code;
    if (stop_requested()) {
      fmt::print(stderr, "isobar: stopped during the run on {} ranks\n", ranks);
      return;
    }
    if (code != 0) fail("scale: the run on {} ranks ended with code {}", ranks, code);
  }
  const auto study = report::read_scaling(runs, kind);
  fmt::print("{}", report::scaling_table(study, kind));
  disk::write_text(folder / (options.mode + ".txt"), report::scaling_table(study, kind));
  disk::write_text(folder / (options.mode + ".csv"), report::scaling_csv(study, kind));
  disk::write_text(folder / (options.mode + ".svg"), report::scaling_svg(study, kind));
  fmt::print("written: {0}/{1}.txt, {1}.csv, {1}.svg", folder.string(), options.mode);
  if (runs.size() > 1) {
    disk::write_text(folder / (options.mode + ".html"), report::comparison_html(report::compare(runs)));
    fmt::print(", {}.html: the runs side by side, as isobar report makes it", options.mode);
  }
  fmt::print("\n");
}

void declare_scale(CLI::App& command) {
  auto options = std::make_shared<ScaleOptions>();
  command.add_option("recipe", options->recipe, "TOML file of the run to scale")->required();
  command.add_option("--ranks", options->ranks, "numbers of ranks; the others are compared with the first")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      .add_option("--mode", options->mode,
                  "weak: every rank keeps the recipe's batch; strong: all ranks together have it")
      ->check(CLI::IsMember({"weak", "strong"}).description("weak|strong"))
      ->capture_default_str();
  command.add_option("--strategy", options->strategy, "in place of the recipe's: sync, lagged(k=1), ...")
      ->type_name("SPEC");
  command.add_option("--set", options->settings, "change one key of the recipe: --set train.epochs=1")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--threads", options->threads, "threads of every rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command.add_option("--folder", options->folder, "where the runs are kept (default: runs/scale-RECIPE)");
  command.add_option("--launcher", options->launcher, "how to start ranks: 'srun -n {}' (default: mpiexec)");
  command.callback([options] {
    catch_signals();
    run_scale(*options);
  });
}

}  // namespace

extern const Verb scale_verb{"scale", "train a recipe on several numbers of ranks and compare: strong or weak scaling",
                             declare_scale};

}  // namespace isobar::cli
