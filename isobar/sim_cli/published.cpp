// isobar-sim published: forecasts of published results, with the unchanged platforms, and their errors.
#include "isobar/forecast/published.hpp"

#include <fmt/format.h>

#include "isobar/disk/text_file.hpp"
#include "isobar/sim_cli/scenario_options.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::sim_cli {
namespace {

struct PublishedOptions {
  std::string match, out;
  bool resume = false, quiet = false;
};

void run_published(const PublishedOptions& options) {
  auto runner = make_runner({.quiet = options.quiet}, options.out, options.resume, false);
  const auto rows = forecast::forecast_published(options.match, runner);
  fmt::print("{}", forecast::published_text(rows));
  if (options.out.empty()) return;
  const std::filesystem::path folder = options.out;
  disk::write_text(folder / "published.txt", forecast::published_text(rows));
  disk::write_text(folder / "published.csv", forecast::published_csv(rows));
  fmt::print("written to {}: published.txt, published.csv\n", options.out);
}

void declare_published(CLI::App& command) {
  const auto options = std::make_shared<PublishedOptions>();
  command.add_option("--match", options->match, "only rows whose system or network has this in its name")
      ->type_name("TEXT");
  auto* out =
      command.add_option("--out", options->out, "folder for published.txt and published.csv")->type_name("FOLDER");
  command.add_flag("--resume", options->resume, "continue with the results already in the folder")->needs(out);
  command.add_flag("--quiet", options->quiet, "show no progress");
  command.callback([options] {
    catch_signals_with_children();
    run_published(*options);
  });
}

}  // namespace

extern const Verb published_verb;
const Verb published_verb{"published", "compare published results with forecasts", declare_published};

}  // namespace isobar::sim_cli
