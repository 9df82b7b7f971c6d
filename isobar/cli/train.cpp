// isobar train RECIPE.toml [--set key=value ...]
#include "isobar/base/config.hpp"
#include "isobar/cli/ranks.hpp"
#include "isobar/cli/run_training.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

struct TrainOptions {
  std::string recipe;
  std::vector<std::string> settings;
  run::Options training;
};

void declare_train(CLI::App& command) {
  auto options = std::make_shared<TrainOptions>();
  command.add_option("recipe", options->recipe, "TOML file that names model, data, optimizer (see examples/recipes)")
      ->required();
  command.add_option("--set", options->settings, "change one key: --set train.epochs=3 --set optimizer.lr=1e-4")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_training_options(command, options->training);
  command.callback([options] {
    on_all_ranks([&](comm_mpi::World& world) {
      Spec recipe = read_recipe(options->recipe);
      for (const std::string& setting : options->settings) apply_setting(recipe, setting);
      run_training(recipe, std::filesystem::path(options->recipe).stem().string(), options->training, world.comm(),
                   world.crew(), world.lifeline());
    });
  });
}

}  // namespace

extern const Verb train_verb{"train", "train a network as a recipe says", declare_train};

}  // namespace isobar::cli
