// Trained: a network with its weights, found in the folder of a run, in a checkpoint, or brought by a model file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "isobar/comm/comm.hpp"
#include "isobar/data/prediction_writer.hpp"
#include "isobar/train/checkpoint_shelf.hpp"
#include "isobar/train/job.hpp"

namespace isobar::train {

struct Trained {
  Model model;
  std::string name;                                    ///< as the user called it
  std::shared_ptr<const CheckpointFile> checkpoint{};  ///< on rank 0, of a run
  std::filesystem::path folder{};  ///< of the run; only rank 0 sees it; empty: it brings its weights
  Position position{};             ///< of the checkpoint
  Spec recipe{};                   ///< of the run, every key with the value in force; empty without one

  bool is_run() const { return !folder.empty(); }
  /// "checkpoint after step 120, epoch 3 of 10: the run was stopped or still goes on".
  std::string standing() const;
};

/// The run whose folder or checkpoint this is, read by rank 0 for all. Of a folder the newest intact checkpoint is
/// taken, or the best one; that there is none yet is an Error. All ranks must call.
Trained find_run(const std::filesystem::path& what, const ModelMaker& make_model, comm::Comm& comm, bool best = false);

/// What the numbers of a prediction are: by the loss it was trained with, or, without one, by the targets if there are
/// any.
data::Meaning meaning_of(const Spec& loss, const Shape& prediction, const Shape* target);

/// How what is trained with a loss becomes probabilities.
data::Squash squash_of(const Spec& loss);

}  // namespace isobar::train
