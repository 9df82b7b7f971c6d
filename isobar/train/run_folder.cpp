#include "isobar/train/run_folder.hpp"

#include <optional>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/checkpoint/strategy_state.hpp"
#include "isobar/disk/late_file.hpp"
#include "isobar/train/agreement.hpp"
#include "isobar/train/history.hpp"
#include "isobar/train/rank_state.hpp"

namespace isobar::train {
namespace {

namespace fs = std::filesystem;

void write_recipe_file(const Job& job, const Batching& batching) {
  disk::write_late(job.folder / "recipe.toml", fmt::format("# {}\n{}", batching.describe(), write_recipe(job.recipe)));
}

// The newest intact checkpoint; empty if a restarted run has none yet.
std::optional<checkpoint::Snapshot> read_newest(const Job& job, const Batching& batching) {
  const checkpoint::CheckpointShelf shelf(job.folder);
  const checkpoint::CheckpointShelf::Found found = shelf.newest_intact();
  for (const std::string& why : found.skipped) fmt::print(stderr, "isobar: not taken: {}\n", one_line(why, 400));
  if (!found.file && job.resume)
    fail("run folder '{}' has no {} to resume from", job.folder.string(),
         found.skipped.empty() ? "checkpoint" : "intact checkpoint");
  if (!found.file) return std::nullopt;
  checkpoint::Snapshot snapshot = found.file->read();
  const checkpoint::Position& position = snapshot.position;
  if (position.batch > 0 && position.batch != batching.batch)
    fail(
        "{} was made with a global batch of {}, this run has {}: data.batch = {} continues it on any number of "
        "ranks",
        snapshot.origin, position.batch, batching.batch, position.batch);
  if (snapshot.seed != job.seed)
    fail("{} was made with seed {}, this run has {}: it would continue with other samples and other random numbers",
         snapshot.origin, snapshot.seed, job.seed);
  fmt::print(stderr, "isobar: continues from {}\n", found.file->path().string());
  return snapshot;
}

void clear(const Job& job, bool relaunched) {
  if (fs::exists(job.folder / "recipe.toml") && !job.overwrite && !relaunched)
    fail(
        "run folder '{}' already holds a run: --resume continues it, --overwrite replaces it, --set folder=... uses "
        "another",
        job.folder.string());
  note_start(job.folder, fs::exists(job.folder / "recipe.toml") ? "overwritten" : "new", 0, job.launch);
  std::error_code ignored;
  for (const char* name : {"curves.svg", "learned.h5", "metrics.csv", "metrics.jsonl", "mlperf.log", "predictions.csv",
                           "report.html", "report.txt", "run.json", "run_card.json", "timing.jsonl", "tuning.txt"})
    fs::remove(job.folder / name, ignored);
  // All of it: the previous run may have had more ranks.
  for (const char* name : {"checkpoints", "pictures", "post_mortem", "profile", "tensorboard", "trace"})
    fs::remove_all(job.folder / name, ignored);
}

// Rank 0 has restored the model as it was on rank 0; the others get it, and each what it had for itself.
void share_model(const checkpoint::Snapshot& snapshot, exec::ParamStore& store, const exec::StateBlocks& state,
                 comm::Comm& comm) {
  bool own = comm.rank() == 0 && checkpoint::holds_own(snapshot, store, state, comm.size());
  broadcast(comm, std::as_writable_bytes(store.all_weights()));
  for (int p = 0; p < store.count(); ++p)
    for (int s = 0; s < store.slot_count(); ++s) broadcast(comm, std::as_writable_bytes(store.slot(p, s)));
  spread_state(comm, snapshot, store, state);
  broadcast_object(comm, own);
  if (!own) return;
  std::vector<float> statistics = checkpoint::own_statistics(store);
  scatter(comm, std::as_bytes(std::span(snapshot.statistics)), std::as_writable_bytes(std::span(statistics)));
  checkpoint::set_own_statistics(store, statistics);
}

}  // namespace

bool take_over_folder(const Job& job, const Batching& batching) {
  std::error_code none;
  if (!fs::is_directory(job.folder, none)) return false;
  if (!fs::exists(job.folder / "recipe.toml", none)) write_recipe_file(job, batching);
  return true;
}

Opened open_run(const Job& job, const Batching& batching, exec::ParamStore& store, const exec::StateBlocks& state,
                comm::Comm& comm) {
  Opened opened;
  std::optional<checkpoint::Snapshot> snapshot;
  if (comm.rank() == 0) {
    std::error_code problem;
    fs::create_directories(job.folder, problem);
    if (problem) fail("run folder '{}' cannot be made: {}", job.folder.string(), problem.message());
    const bool relaunched = was_launched_by(job.folder, job.launch);
    if (job.resume || relaunched) snapshot = read_newest(job, batching);
    const checkpoint::CheckpointShelf shelf(job.folder);
    if (snapshot) {
      restore(*snapshot, store, state, 0, comm.size());
      opened = {snapshot->position, snapshot->metrics, snapshot->best};
      note_start(job.folder, "resumed", opened.position.step, job.launch);
      shelf.set_aside_after(opened.position.step);
    } else {
      clear(job, relaunched);
    }
    shelf.tidy();
    write_recipe_file(job, batching);
  }
  opened.position.batch = batching.batch;
  opened.position.rows = batching.rows;
  broadcast_object(comm, opened.position);
  broadcast_object(comm, opened.best);
  broadcast(comm, opened.metrics);
  bool resumed = snapshot.has_value();
  broadcast_object(comm, resumed);
  if (resumed) {
    share_model(snapshot ? *snapshot : checkpoint::Snapshot(), store, state, comm);
  } else {
    if (!job.strategy->traits().members_apart) broadcast(comm, std::as_writable_bytes(store.all_weights()));
    checkpoint::begin_state(store, state);
  }
  return opened;
}

}  // namespace isobar::train
