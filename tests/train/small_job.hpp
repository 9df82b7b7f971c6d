// A job small enough for tests: a dense network on noise.
#pragma once

#include <filesystem>

#include "isobar/base/config.hpp"
#include "isobar/train/trainer.hpp"

#include "tests/checkpoint/small_network.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::train {

using tests::TemporaryFolder;

/// Makes a small network from a Spec dense_net(hidden=..., dropout=..., norm=...).
inline Model dense_model(const Spec& spec, const Spec& loss) {
  Args args(spec, "network");
  tests::SmallNetwork network;
  network.hidden = args.integer("hidden", network.hidden);
  network.dropout = args.real("dropout", network.dropout);
  network.norm = args.flag("norm", network.norm);
  args.finish();
  if (!loss.name().empty()) network.loss = loss;
  return {[=](std::int64_t batch) { return tests::small_network(batch, network); },
          {"a", "b", "c"},
          args.resolved(),
          network.loss};
}

inline constexpr const char* small_recipe = R"toml(
model = "dense_net"
optimizer = "adam(lr=0.01)"
seed = 5
[data]
train = "noise(shape=[6, 6, 2], targets=3, count=22, seed=1)"
test = "noise(shape=[6, 6, 2], targets=3, count=10, seed=2)"
batch = 4
[train]
epochs = 3
)toml";

/// The model of a recipe that names a dense_net, and its job.
inline Model small_model(const Spec& recipe) {
  Args args(recipe, "recipe");
  return dense_model(args.spec("model"), args.has("loss") ? args.spec("loss") : Spec());
}
inline Job read_small_job(const Spec& recipe) {
  datasets::Survey survey;
  return read_job(recipe, "test", small_model(recipe), survey);
}

inline Job small_job(const std::filesystem::path& folder, const std::vector<const char*>& settings = {}) {
  Spec recipe = parse_recipe(small_recipe, "test");
  apply_setting(recipe, "folder=\"" + folder.string() + "\"");
  for (const char* setting : settings) apply_setting(recipe, setting);
  return read_small_job(recipe);
}

/// The newest checkpoint of the run in that folder; an empty path if there is none.
inline std::filesystem::path newest_in(const std::filesystem::path& run) {
  const auto all = checkpoint::CheckpointShelf(run).list();
  return all.empty() ? std::filesystem::path() : all[0].file;
}

}  // namespace isobar::train
