// PredictionWriter: writes a network's predictions for the samples of a data set, batch by batch, into a file that
// appears when it is complete. HDF5 takes any prediction; NetCDF, with the CF conventions, only maps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isobar/datasets/dataset.hpp"
#include "isobar/tensor/squash.hpp"

namespace isobar::writing {

/// What the numbers of a prediction are: quantities; scores of mutually exclusive classes, along the last axis; scores
/// of independent labels.
enum class Meaning { numbers, classes, labels };

/// What is known before the first prediction is written.
struct PredictionOutline {
  std::shared_ptr<const datasets::Dataset> samples;  ///< all are predicted, in order
  std::int64_t first = 0;                            ///< the user's number for sample 0
  Shape prediction{};                                ///< of one sample
  std::optional<Shape> target{};                     ///< if targets are known
  Meaning meaning = Meaning::numbers;
  std::vector<std::string> names{};  ///< of quantities, classes or labels; may be empty
  Squash squash = Squash::none;
  bool probabilities = false;                                ///< write them too; needs a squash
  std::vector<std::pair<std::string, std::string>> notes{};  ///< about the file: model, history, ...
};

class PredictionWriter {
 public:
  explicit PredictionWriter(PredictionOutline outline);
  virtual ~PredictionWriter() = default;

  /// Takes the predictions of some samples, and the targets if there are any, row by row; sample numbers increase from
  /// call to call, and samples left out are written as missing: NaN, or class -1.
  void write(std::span<const std::int64_t> samples, std::span<const float> predictions, std::span<const float> targets);
  /// Completes the file and gives it its name.
  void finish();

 protected:
  /// Writes the rows of the samples from `first` on; targets are empty if there are none.
  virtual void write_rows(std::int64_t first, std::int64_t count, std::span<const float> predictions,
                          std::span<const float> targets) = 0;
  virtual void commit() = 0;

  const PredictionOutline& outline() const { return outline_; }
  /// The positions of a prediction, each with a class, and the number of classes.
  std::size_t positions() const { return positions_; }
  std::size_t classes() const { return classes_; }
  /// The class at every position, -1 where nothing was predicted.
  std::vector<std::int32_t> classes_of(std::span<const float> predictions) const;
  /// The predictions as probabilities.
  std::vector<float> probabilities_of(std::span<const float> predictions) const;
  /// The name of quantity, class or label i, or its number.
  std::string name_of(std::size_t i) const;

 private:
  PredictionOutline outline_;
  std::size_t width_, target_width_, positions_, classes_;
  std::int64_t next_ = 0;
  std::vector<float> predictions_, targets_;
};

/// Throws UsageError unless the name ends in .h5, .hdf5 or .nc.
void expect_prediction_format(const std::filesystem::path& file);

/// Begins a file in the format of its extension. NetCDF for predictions that are not maps is a UsageError.
std::unique_ptr<PredictionWriter> make_prediction_writer(const std::filesystem::path& file, PredictionOutline outline);

/// The writers it chooses from.
std::unique_ptr<PredictionWriter> hdf5_predictions(const std::filesystem::path& file, PredictionOutline outline);
std::unique_ptr<PredictionWriter> netcdf_predictions(const std::filesystem::path& file, PredictionOutline outline);

}  // namespace isobar::writing
