// isobar demo: makes a small universe set, trains CosmoFlow on it, and shows predicted against true parameters of
// universes it has never seen.
#include <fmt/format.h>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/cli/training.hpp"
#include "isobar/cli/verb.hpp"
#include "isobar/report/scatter.hpp"

namespace isobar::cli {
namespace {

constexpr const char* recipe_text = R"toml(
model = "cosmoflow(size=32, width=16, dropout=0)"
optimizer = "adam(lr=1e-3)"
rate = "cosine(end=0.01)"
folder = "runs/demo"

[data]
train = "universe(size=32, mesh=32, cell=8, scale_with_h0=false, spread=0.2, count=2048)"
test = "universe(size=32, mesh=32, cell=8, scale_with_h0=false, spread=0.2, count=256, first=1000000000)"
batch = 4
readers = 2

[train]
epochs = 8
)toml";

struct Options {
  std::vector<std::string> settings;
  bool show = false;
};

void declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
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
    TrainingOptions training;
    training.overwrite = true;
    run_training(recipe, "demo", training);
  });
}

}  // namespace

extern const Verb demo_verb;
const Verb demo_verb{"demo", "train CosmoFlow on a small universe, about 3 minutes, and show what it learned", declare};

}  // namespace isobar::cli
