// tensorboard: a run as TensorBoard shows it, in tensorboard/ of its folder: scalars of steps and epochs, the recipe,
// samples of the test set, histograms of weights. A resumed run begins a new file that takes back the steps done again.
#pragma once

#include <memory>

#include "isobar/train/events.hpp"
#include "isobar/train/job.hpp"

namespace isobar::record {

/// Steps are written at most five times a second of training, epochs all; both are handed to the system at once. The
/// folder named by Start must exist; what cannot be written is an Error naming the file.
std::unique_ptr<train::Sink> tensorboard(const train::ReportOptions& options);

}  // namespace isobar::record
