#include "isobar/train/run_folder.hpp"

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/files/late_file.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/history.hpp"

namespace isobar::train {
namespace {

namespace fs = std::filesystem;

void write_recipe_file(const Job& job, const Batching& batching) {
  files::write_late(job.folder / "recipe.toml", fmt::format("# {}\n{}", batching.describe(), write_recipe(job.recipe)));
}

Position read_position(const Job& job, const Batching& batching, exec::ParamStore& store, const Kept& kept) {
  const fs::path file = checkpoint_file(job);
  if (!fs::exists(file)) fail("run folder '{}' has no checkpoint to resume from", job.folder.string());
  const Position position = read_checkpoint(file, store, kept);
  if (position.batch > 0 && position.batch != batching.batch)
    fail(
        "checkpoint '{}' was made with a global batch of {}, this run has {}: data.batch = {} goes on with it on any "
        "number of ranks",
        file.string(), position.batch, batching.batch, position.batch);
  return position;
}

void clear(const Job& job) {
  if (fs::exists(job.folder / "recipe.toml") && !job.overwrite)
    fail(
        "run folder '{}' already holds a run: --resume goes on with it, --overwrite replaces it, --set folder=... uses "
        "another",
        job.folder.string());
  note_start(job.folder, fs::exists(job.folder / "recipe.toml") ? "overwritten" : "new", 0);
  std::error_code ignored;
  for (const char* name : {"checkpoint.h5", "curves.svg", "learned.h5", "metrics.csv", "metrics.jsonl", "mlperf.log",
                           "predictions.csv", "report.html", "report.txt", "run.json", "run_card.json", "timing.jsonl"})
    fs::remove(job.folder / name, ignored);
  // All of it: the run before may have had more ranks.
  for (const char* name : {"pictures", "post_mortem", "profile", "tensorboard", "trace"})
    fs::remove_all(job.folder / name, ignored);
}

}  // namespace

fs::path checkpoint_file(const Job& job) { return job.folder / "checkpoint.h5"; }

Position open_run(const Job& job, const Batching& batching, exec::ParamStore& store, const Kept& kept,
                  comm::Comm& comm) {
  Position position;
  position.batch = batching.batch;
  if (comm.rank() == 0) {
    std::error_code problem;
    fs::create_directories(job.folder, problem);
    if (problem) fail("run folder '{}' cannot be made: {}", job.folder.string(), problem.message());
    if (job.resume) {
      position = read_position(job, batching, store, kept);
      note_start(job.folder, "resumed", position.step);
    } else {
      clear(job);
    }
    write_recipe_file(job, batching);
  }
  position.batch = batching.batch;
  position.rows = batching.rows;
  share_object(comm, position);
  share_numbers(comm, store.all_weights());
  if (!job.resume) return position;
  for (int p = 0; p < store.count(); ++p)
    for (int s = 0; s < store.slot_count(); ++s) share_numbers(comm, store.slot(p, s));
  for (const auto& [name, numbers] : kept.blocks) share_numbers(comm, numbers);
  for (double& number : kept.numbers) share_object(comm, number);
  return position;
}

}  // namespace isobar::train
