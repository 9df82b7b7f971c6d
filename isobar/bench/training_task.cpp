#include "isobar/bench/training_task.hpp"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "isobar/base/random.hpp"
#include "isobar/bench/made_samples.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::bench {
namespace {

// A sample: noisy waves along its axes. Their frequency determines the class, or their amplitude the target numbers.
class Waves {
 public:
  Waves(const graph::Graph& graph, bool classes)
      : x_(graph.value(graph.find("x")).shape),
        y_(graph.value(graph.find("y")).shape),
        classes_(classes ? graph.value(graph.find("prediction")).shape[-1] : 0) {}

  void make(std::int64_t sample, std::span<float> x, std::span<float> y) const {
    const Random random(23, sample);
    const std::int64_t channels = x_[-1], size = x_[1];
    double frequency = 2, strength = 1;
    if (classes_ > 0) {
      const std::int64_t kind = sample % classes_;
      y[0] = static_cast<float>(kind);
      frequency = 1 + static_cast<double>(kind);
    } else {
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(random.uniform(i));
      strength = 0.5 + y[0];
    }
    const double phase = random.uniform(101) * 2 * std::numbers::pi;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::int64_t pixel = static_cast<std::int64_t>(i) / channels;
      const double at = static_cast<double>(pixel % size + (pixel / size) % size) / size;
      const double noise = random.uniform(1000 + i) - 0.5;
      x[i] = static_cast<float>(0.5 * strength * std::sin(std::numbers::pi * frequency * at + phase) + noise);
    }
  }

 private:
  Shape x_, y_;
  std::int64_t classes_;
};

}  // namespace

std::span<const TrainingTask> training_tasks() {
  static const TrainingTask all[] = {
      {"small pictures in ten classes", "hep(size=32, filters=32, layers=4, classes=10, dropout=0)", 4000, 1000, 100,
       0.02, "accuracy", 0.95, 12},
      {"volumes, four numbers each", "cosmoflow(size=32, channels=1, width=16, layers=4, dropout=0)", 512, 128, 8, 0.01,
       "loss", 0.15, 10}};
  return all;
}

void make_files(const TrainingTask& task, const std::filesystem::path& folder) {
  const graph::Graph graph = zoo::training_graph(*zoo::make_network(task.model), 1);
  const Waves waves(graph, task.metric == "accuracy");
  std::vector<datasets::Field> fields;
  for (const char* name : {"x", "y"}) {
    const auto& extents = graph.value(graph.find(name)).shape.extents();
    fields.push_back({name, Shape(std::vector<std::int64_t>(extents.begin() + 1, extents.end()))});
  }
  std::vector<float> x(fields[0].shape.count());
  std::vector<float> y(fields[1].shape.count());
  std::int64_t sample = 0;
  for (const auto& [name, count] : {std::pair{"train.h5", task.train}, {"test.h5", task.test}}) {
    const auto writer = datasets::make_writer("hdf5", folder / name, {fields, count, {}});
    for (std::int64_t i = 0; i < count; ++i) {
      waves.make(sample++, x, y);
      const std::span<const float> views[] = {x, y};
      writer->write(views);
    }
    writer->finish();
  }
}

std::string recipe_text(const TrainingTask& task, const std::filesystem::path& folder) {
  return fmt::format(
      "model = \"{}\"\noptimizer = \"sgd(lr={}, momentum=0.9)\"\nfolder = \"{}\"\n[data]\nbatch = {}\n"
      "train = \"hdf5(path='{}')\"\ntest = \"hdf5(path='{}')\"\n[train]\nepochs = {}\n[checkpoint]\nevery_minutes = "
      "0\n",
      task.model, task.rate, (folder / "run").string(), task.batch, (folder / "train.h5").string(),
      (folder / "test.h5").string(), task.epochs + 1);
}

}  // namespace isobar::bench
