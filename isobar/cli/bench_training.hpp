// What `isobar bench training` measures: level 2, a whole training from files with evaluation, epoch by epoch, beside
// PyTorch doing the same from the same files: samples per second, and time until the test set is good enough.
#pragma once

#include <string>

namespace isobar::cli {

/// Trains the recipe in a file and serves its epochs to the contest that started this program: "epoch" is answered with
/// seconds of training, seconds of evaluation and the metric the recipe is judged by.
void serve_training(const std::string& recipe);

}  // namespace isobar::cli
