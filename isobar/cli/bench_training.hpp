// What `isobar bench training` measures: level 2, a whole training run from files with evaluation, epoch by epoch,
// compared with PyTorch on the same files: samples per second, and time until the result on the test set is good
// enough.
#pragma once

#include <string>

namespace isobar::cli {

/// Trains the recipe in a file and serves its epochs to the contest that started this program: the answer to "epoch" is
/// seconds of training, seconds of evaluation and the metric by which the recipe is judged.
void serve_training(const std::string& recipe);

}  // namespace isobar::cli
