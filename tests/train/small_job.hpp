// A job small enough for tests: a dense network on noise.
#pragma once

#include <filesystem>

#include "isobar/base/config.hpp"
#include "isobar/train/trainer.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::train {

using tests::TemporaryFolder;

/// Takes any `model` Spec named dense_net(hidden=..., dropout=..., norm=...): 6 x 6 x 2 numbers in, 3 out.
inline Model dense_model(const Spec& spec, const Spec& loss) {
  Args args(spec, "network");
  const std::int64_t hidden = args.integer("hidden", 8);
  const double dropout = args.real("dropout", 0.25);
  const bool norm = args.flag("norm", false);
  args.finish();
  const Spec chosen = loss.name().empty() ? Spec("mse") : loss;
  return {[=](std::int64_t batch) {
            graph::Graph g;
            graph::ValueId h = g.input("x", {batch, 6, 6, 2});
            h = g.add("flatten", h);
            h = g.add(fmt::format("dense(units={})", hidden), h, "fc1");
            if (norm) h = g.add("batch_norm", h, "norm");
            h = g.add("tanh", h);
            if (dropout > 0) h = g.add(fmt::format("dropout(rate={})", dropout), h, "drop");
            h = g.add("dense(units=3)", h, "fc2");
            g.output("prediction", h);
            g.loss(g.add(chosen, {h, g.input("y", {batch, 3})}, "loss"));
            return g;
          },
          {"a", "b", "c"},
          args.resolved(),
          chosen};
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

inline Job small_job(const std::filesystem::path& folder, const std::vector<const char*>& settings = {}) {
  Spec recipe = parse_recipe(small_recipe, "test");
  apply_setting(recipe, "folder=\"" + folder.string() + "\"");
  for (const char* setting : settings) apply_setting(recipe, setting);
  return read_job(recipe, "test", dense_model);
}

/// The newest checkpoint of the run in that folder; an empty path when there is none.
inline std::filesystem::path newest_in(const std::filesystem::path& run) {
  const auto all = CheckpointShelf(run).list();
  return all.empty() ? std::filesystem::path() : all[0].file;
}

}  // namespace isobar::train
