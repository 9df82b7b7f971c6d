#include "isobar/writing/prediction_writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isobar/base/error.hpp"

namespace isobar::writing {
namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

std::size_t numbers(const Shape& shape) { return shape.count(); }

// Scores of one place; the largest is subtracted first, so that nothing overflows.
void softmax(std::span<float> scores) {
  const float top = *std::ranges::max_element(scores);
  double sum = 0;
  for (float& score : scores) sum += score = std::exp(score - top);
  for (float& score : scores) score = static_cast<float>(score / sum);
}

}  // namespace

PredictionWriter::PredictionWriter(PredictionOutline outline)
    : outline_(std::move(outline)),
      width_(numbers(outline_.prediction)),
      target_width_(outline_.target ? numbers(*outline_.target) : 0),
      classes_(outline_.prediction.rank() > 0 ? outline_.prediction[-1] : 1) {
  expects(width_ > 0 && outline_.samples, "predictions of samples");
  expects(!outline_.probabilities || outline_.squash != Squash::none, "scores that can become probabilities");
  positions_ = width_ / classes_;
}

std::string PredictionWriter::name_of(std::size_t i) const {
  return i < outline_.names.size() ? outline_.names[i] : std::to_string(i);
}

void PredictionWriter::write(std::span<const std::int64_t> samples, std::span<const float> predictions,
                             std::span<const float> targets) {
  if (samples.empty()) return;
  const std::int64_t first = next_, last = samples.back() + 1, all = last - first;
  expects(samples.front() >= first && last <= outline_.samples->size(), "samples that rise");
  expects(predictions.size() == samples.size() * width_ && targets.size() == samples.size() * target_width_,
          "a row for every sample");
  next_ = last;
  if (all == std::ssize(samples)) return write_rows(first, all, predictions, targets);
  predictions_.assign(all * width_, missing);
  targets_.assign(all * target_width_, missing);
  const auto place = [&](std::span<const float> from, std::size_t i, std::size_t width, std::vector<float>& to) {
    std::ranges::copy(from.subspan(i * width, width), to.begin() + (samples[i] - first) * width);
  };
  for (std::size_t i = 0; i < samples.size(); ++i) {
    place(predictions, i, width_, predictions_);
    place(targets, i, target_width_, targets_);
  }
  write_rows(first, all, predictions_, targets_);
}

void PredictionWriter::finish() {
  predictions_.assign(width_, missing);
  targets_.assign(target_width_, missing);
  for (; next_ < outline_.samples->size(); ++next_) write_rows(next_, 1, predictions_, targets_);
  commit();
}

std::vector<std::int32_t> PredictionWriter::classes_of(std::span<const float> predictions) const {
  std::vector<std::int32_t> found;
  found.reserve(predictions.size() / classes_);
  for (std::size_t at = 0; at < predictions.size(); at += classes_) {
    const auto scores = predictions.subspan(at, classes_);
    const bool any = std::ranges::none_of(scores, [](float score) { return std::isnan(score); });
    found.push_back(any ? static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin()) : -1);
  }
  return found;
}

std::vector<float> PredictionWriter::probabilities_of(std::span<const float> predictions) const {
  std::vector<float> made(predictions.begin(), predictions.end());
  switch (outline_.squash) {
    case Squash::none: break;
    case Squash::softmax:
      for (std::size_t at = 0; at < made.size(); at += classes_) softmax(std::span(made).subspan(at, classes_));
      break;
    case Squash::exponential:
      for (float& number : made) number = std::exp(number);
      break;
    case Squash::sigmoid:
      for (float& number : made) number = 1 / (1 + std::exp(-number));
      break;
  }
  return made;
}

void expect_prediction_format(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending != ".h5" && ending != ".hdf5" && ending != ".nc")
    fail_usage("{}: its ending names no format of predictions; valid: .h5 (HDF5), .nc (NetCDF)", file.string());
}

std::unique_ptr<PredictionWriter> make_prediction_writer(const std::filesystem::path& file, PredictionOutline outline) {
  expect_prediction_format(file);
  return (file.extension() == ".nc" ? netcdf_predictions : hdf5_predictions)(file, std::move(outline));
}

}  // namespace isobar::writing
