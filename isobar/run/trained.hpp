// Trained: a network with its weights, from the folder of a run, a checkpoint or a model file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "isobar/checkpoint/checkpoint_shelf.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/train/job.hpp"
#include "isobar/writing/prediction_writer.hpp"

namespace isobar::run {

struct Trained {
  train::Model model;
  std::string name;                                                ///< as the user named it
  std::shared_ptr<const checkpoint::CheckpointFile> checkpoint{};  ///< on rank 0, of a run
  std::filesystem::path folder{};   ///< of the run; only rank 0 may see it; empty: a model file with weights
  checkpoint::Position position{};  ///< of the checkpoint
  Spec recipe{};                    ///< of the run, with every key resolved; empty without a run

  bool is_run() const { return !folder.empty(); }
  /// "checkpoint after step 120, epoch 3 of 10: the run was stopped or is still running".
  std::string standing() const;
};

/// The run of this folder or checkpoint, read by rank 0 for all; the model is not made yet. From a folder the newest
/// intact checkpoint is used, or the best one; throws Error if there is none yet. All ranks must call.
Trained read_run(const std::filesystem::path& what, comm::Comm& comm, bool best = false);
/// The same, with its model.
Trained find_run(const std::filesystem::path& what, comm::Comm& comm, bool best = false);

/// Whether the run has a network of every rank, and predicts the mean of what they predict.
bool predicts_by_mean(const Trained& trained);

/// What the numbers of a prediction mean, according to the loss it was trained with or, without one, the targets if
/// there are any.
writing::Meaning meaning_of(const Spec& loss, const Shape& prediction, const Shape* target);

}  // namespace isobar::run
