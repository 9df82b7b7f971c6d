// tensorboard: a run as TensorBoard shows it, in tensorboard/ of its folder: scalars of steps and epochs, the recipe,
// samples of the test set, histograms of weights. A resumed run begins a new file that replaces the repeated steps.
#pragma once

#include <memory>

#include "isobar/train/events.hpp"
#include "isobar/train/job.hpp"

namespace isobar::record {

/// Writes steps at most five times per second of training, and all epochs; both are passed to the system immediately.
/// The folder named by Start must exist; a failed write is an Error that names the file.
std::unique_ptr<train::Sink> tensorboard(const train::ReportOptions& options);

}  // namespace isobar::record
