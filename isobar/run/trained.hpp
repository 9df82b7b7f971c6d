// Trained: a network with its weights, found in the folder of a run, in a checkpoint, or brought by a model file.
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
  std::string name;                                                ///< as the user called it
  std::shared_ptr<const checkpoint::CheckpointFile> checkpoint{};  ///< on rank 0, of a run
  std::filesystem::path folder{};   ///< of the run; only rank 0 sees it; empty: it brings its weights
  checkpoint::Position position{};  ///< of the checkpoint
  Spec recipe{};                    ///< of the run, every key with the value in force; empty without one

  bool is_run() const { return !folder.empty(); }
  /// "checkpoint after step 120, epoch 3 of 10: the run was stopped or still goes on".
  std::string standing() const;
};

/// The run whose folder or checkpoint this is, read by rank 0 for all; its model is still to be made from its recipe.
/// Of a folder the newest intact checkpoint is taken, or the best one; that there is none yet is an Error. All ranks
/// must call.
Trained read_run(const std::filesystem::path& what, comm::Comm& comm, bool best = false);
/// As above, with its model.
Trained find_run(const std::filesystem::path& what, comm::Comm& comm, bool best = false);

/// What the numbers of a prediction are: by the loss it was trained with, or, without one, by the targets if there are
/// any.
writing::Meaning meaning_of(const Spec& loss, const Shape& prediction, const Shape* target);

/// How what is trained with a loss becomes probabilities.
writing::Squash squash_of(const Spec& loss);

}  // namespace isobar::run
