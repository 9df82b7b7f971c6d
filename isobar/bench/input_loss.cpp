// What reading costs training: blocks of steps fed by the loader from HDF5 files alternate with blocks fed with one
// batch in memory. Before each block the loader's queue is full and its readers are idle, so that a block of n steps
// fed from files pays for exactly n batches.
#include <chrono>
#include <thread>

#include "isobar/base/clock.hpp"
#include "isobar/bench/made_samples.hpp"
#include "isobar/bench/reads.hpp"
#include "isobar/bench/training_step.hpp"
#include "isobar/datasets/format.hpp"
#include "isobar/feeding/loader.hpp"

namespace isobar::bench {
namespace {

constexpr int block = 6;

// Particle counts as int16, one sample per file: the layout of MLPerf CosmoFlow.
void write_universe_like(const std::filesystem::path& folder, const graph::Plan& plan, std::int64_t samples) {
  std::vector<datasets::Field> fields;
  for (const graph::PlanInput& input : plan.inputs) {
    const std::vector<std::int64_t>& extents = input.shape.extents();
    fields.push_back({input.name, Shape(std::vector<std::int64_t>(extents.begin() + 1, extents.end()))});
  }
  write_samples("hdf5(layout=cosmoflow, type=int16)", folder, fields, 0, samples, particles);
}

void let_readers_rest() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

}  // namespace

InputLoss measure_input_loss(const std::string& model, const ReadOptions& options) {
  TrainingStep step(model, 1, "sgd(momentum=0.9, lr=0.001)");
  const std::filesystem::path folder = options.scratch / "universe";
  write_universe_like(folder, step.executor().plan(), options.scale);
  const auto dataset = datasets::make_dataset(Spec("hdf5", {{"path", folder.string()}, {"log", true}}));
  feeding::Loader loader(*dataset, {.count = dataset->size(), .batch = 1}, {.training = true});
  const auto next = [&] {
    const feeding::Batch* batch = loader.next();
    return batch ? batch : loader.next();  // null once at the end of an epoch
  };
  std::vector<std::vector<std::vector<float>>> held;  // the same samples, one vector for each field
  for (std::int64_t i = 0; i < dataset->size(); ++i) {
    for (auto& fields = held.emplace_back(); const datasets::Field& field : dataset->fields())
      fields.emplace_back(field.shape.count());
    dataset->read(i, std::vector<std::span<float>>(held.back().begin(), held.back().end()));
  }
  const auto from_files = [&] {
    const double begin = now_seconds();
    for (int i = 0; i < block; ++i) {
      const feeding::Batch& batch = *next();
      TrainingStep::Inputs inputs;
      for (std::size_t f = 0; f < batch.fields.size(); ++f)
        inputs.emplace_back(dataset->fields()[f].name, batch.fields[f].span());
      step.run(std::move(inputs));
    }
    return (now_seconds() - begin) / block;
  };
  const auto from_memory = [&] {
    const double begin = now_seconds();
    for (std::size_t i = 0; i < block; ++i) {
      TrainingStep::Inputs inputs;
      for (std::size_t f = 0; f < dataset->fields().size(); ++f)
        inputs.emplace_back(dataset->fields()[f].name, held[i % held.size()][f]);
      step.run(std::move(inputs));
    }
    return (now_seconds() - begin) / block;
  };
  from_memory();
  from_files();
  std::vector<double> memory, files, losses;
  double all = 0;
  const double waited = loader.wait_seconds();
  for (int round = 0; round < options.rounds; ++round) {
    // They take turns going first, so that neither always gets the warmer machine.
    for (const bool with_files : {round % 2 == 0, round % 2 != 0}) {
      let_readers_rest();
      (with_files ? files : memory).push_back(with_files ? from_files() : from_memory());
    }
    losses.push_back(files.back() / memory.back() - 1);
    all += files.back() * block;
  }
  return {model, summarize(memory), summarize(files), summarize(losses), (loader.wait_seconds() - waited) / all};
}

}  // namespace isobar::bench
