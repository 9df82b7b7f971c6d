// isobar demo: makes a small family of universes, trains CosmoFlow on it, and shows predicted against true parameters
// of universes that the network has never seen.
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/cli/run_training.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/pictures/scatter.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

// Parameters vary by 20 %, twice CosmoFlow's range, in a box of fixed size: with a box that grows with H_0, a change of
// H_0 looks so much like one of sigma_8 that volumes this small cannot tell them apart.
constexpr double spread = 0.2;
constexpr const char* recipe_text = R"toml(
model = "cosmoflow(size=32, width=16, dropout=0)"
optimizer = "adam(lr=1e-3)"
rate = "cosine(end=0.01)"
folder = "runs/demo"

[data]
train = "universe(size=32, mesh=32, cell=8, scale_with_h0=false, spread=0.2, count=5120)"
test = "universe(size=32, mesh=32, cell=8, scale_with_h0=false, spread=0.2, count=256, first=1000000000)"
batch = 4
readers = 2

[train]
epochs = 5
)toml";

struct DemoOptions {
  std::vector<std::string> settings;
  bool show = false;
};

/// Column c of rows of four, in physical units.
pictures::Series physical(const train::Evaluated& evaluated, std::size_t c, const char* name, double nominal) {
  pictures::Series series{name};
  for (std::size_t i = c; i < evaluated.targets.size(); i += 4) {
    series.truth.push_back(nominal * (1 + spread * double{evaluated.targets[i]}));
    series.predicted.push_back(nominal * (1 + spread * double{evaluated.predictions[i]}));
  }
  return series;
}

/// Mean absolute error of the predictions, and of always predicting the mean.
std::string errors(const pictures::Series& s) {
  double mean = 0, of_network = 0, of_mean = 0;
  const auto n = static_cast<double>(s.truth.size());
  for (const double t : s.truth) mean += t / n;
  for (std::size_t i = 0; i < s.truth.size(); ++i) {
    of_network += std::abs(s.predicted[i] - s.truth[i]) / n;
    of_mean += std::abs(mean - s.truth[i]) / n;
  }
  return fmt::format("{:<8} R2 {:5.2f}   off by {:.4f} on average; always saying the mean is off by {:.4f}", s.name,
                     pictures::r2(s), of_network, of_mean);
}

void show(const train::Evaluated& evaluated, const std::string& folder) {
  const std::vector<pictures::Series> all{physical(evaluated, 0, "omega_m", 0.3),
                                          physical(evaluated, 1, "sigma_8", 0.8)};
  fmt::print("\nUniverses the network has never seen:\n\n{:>10} {:>20} {:>20}\n{:>10} {:>10}{:>10} {:>10}{:>10}\n", "",
             "omega_m", "sigma_8", "universe", "true", "predicted", "true", "predicted");
  for (std::size_t i = 0; i < std::min<std::size_t>(8, all[0].truth.size()); ++i)
    fmt::print("{:>10} {:>10.3f}{:>10.3f} {:>10.3f}{:>10.3f}\n", i + 1, all[0].truth[i], all[0].predicted[i],
               all[1].truth[i], all[1].predicted[i]);
  fmt::print("\n{}\n", pictures::scatter_text(all));
  for (const pictures::Series& series : all) fmt::print("{}\n", errors(series));
  pictures::write_scatter_svg(folder + "/scatter.svg", all);
  fmt::print("\nThe picture is {0}/scatter.svg, everything else about the run is in {0}.\n", folder);
}

void declare_demo(CLI::App& command) {
  auto options = std::make_shared<DemoOptions>();
  command.add_option("--set", options->settings, "change one key of the recipe: --set train.epochs=3")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_flag("--show", options->show, "print the recipe and do nothing");
  command.callback([options] {
    Spec recipe = parse_recipe(recipe_text, "demo");
    for (const std::string& setting : options->settings) apply_setting(recipe, setting);
    if (options->show) {
      fmt::print("{}", write_recipe(recipe));
      return;
    }
    const run::Options training{.overwrite = true, .screen = stdout};
    const auto alone = comm::alone();
    const run::Outcome outcome = run_training(recipe, "demo", training, *alone, *comm::fixed_crew(*alone));
    if (!stop_requested()) show(outcome.evaluated, Args(recipe, "recipe").text("folder"));
  });
}

}  // namespace

extern const Verb demo_verb{"demo", "train CosmoFlow on small universes, about 3 minutes, and show what it learned",
                            declare_demo};

}  // namespace isobar::cli
