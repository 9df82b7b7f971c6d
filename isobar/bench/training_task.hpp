// Training tasks for level 2: networks with learnable data files, made on the fly. The files are HDF5, one sample after
// another; Isobar and the peers read the same files.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "isobar/base/spec.hpp"

namespace isobar::bench {

/// What to train, how, and when it is good enough.
struct TrainingTask {
  std::string name, model;
  std::int64_t train = 0, test = 0;  ///< samples
  std::int64_t batch = 1;
  double rate = 0.01;  ///< of gradient descent with momentum 0.9
  std::string metric;  ///< on the test set: "accuracy" or "loss"
  double wanted = 0;   ///< accuracy: at least; loss: at most
  int epochs = 12;     ///< at most

  bool good_enough(double value) const { return metric == "loss" ? value <= wanted : value >= wanted; }
};

std::span<const TrainingTask> training_tasks();

/// Writes train.h5 and test.h5 into the folder: noisy pictures or volumes whose pattern determines the target.
void make_files(const TrainingTask& task, const std::filesystem::path& folder);

/// The recipe for our side, as text.
std::string recipe_text(const TrainingTask& task, const std::filesystem::path& folder);

}  // namespace isobar::bench
