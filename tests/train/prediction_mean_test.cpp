// The mean of what networks predict, by hand.
#include "isobar/train/prediction_mean.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::train {
namespace {

std::vector<float> mean_of(Squash squash, std::int64_t classes, const std::vector<std::vector<float>>& predictions) {
  PredictionMean mean(squash, classes);
  mean.begin();
  for (const std::vector<float>& each : predictions) mean.add(each);
  const std::span<const float> scores = mean.scores();
  return {scores.begin(), scores.end()};
}

// Probabilities 0.9, 0.1 and 0.3, 0.7 have the mean 0.6, 0.4; the mean of scores would be 0.662, 0.338.
TEST(PredictionMean, ClassesByTheirProbabilities) {
  const std::vector<float> one{std::log(9.0f) + 5, 5}, two{std::log(3.0f), std::log(7.0f)};
  const std::vector<float> mean = mean_of(Squash::softmax, 2, {one, two});
  EXPECT_NEAR(std::exp(mean[0]), 0.6, 1e-6);
  EXPECT_NEAR(std::exp(mean[1]), 0.4, 1e-6);
}

// Two positions with three classes each.
TEST(PredictionMean, EveryPositionIsAChoiceOfItsOwn) {
  const std::vector<float> one{0, 0, 0, std::log(2.0f), 0, 0}, two{std::log(4.0f), 0, 0, 0, 0, std::log(2.0f)};
  const std::vector<float> mean = mean_of(Squash::softmax, 3, {one, two});
  const std::vector<double> expected{0.5, 0.25, 0.25, 0.375, 0.25, 0.375};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(std::exp(mean[i]), expected[i], 1e-6);
}

TEST(PredictionMean, LogarithmsOfProbabilities) {
  const std::vector<float> mean =
      mean_of(Squash::exponential, 2, {{std::log(0.9f), std::log(0.1f)}, {std::log(0.3f), std::log(0.7f)}});
  EXPECT_NEAR(std::exp(mean[0]), 0.6, 1e-6);
  EXPECT_NEAR(std::exp(mean[1]), 0.4, 1e-6);
}

TEST(PredictionMean, LabelsByTheirProbabilities) {
  const auto score = [](float p) { return std::log(p / (1 - p)); };
  const std::vector<float> mean = mean_of(Squash::sigmoid, 2, {{score(0.9f), score(0.2f)}, {score(0.5f), score(0.4f)}});
  EXPECT_NEAR(mean[0], score(0.7f), 1e-5);
  EXPECT_NEAR(mean[1], score(0.3f), 1e-5);
}

TEST(PredictionMean, NumbersAsTheyAre) {
  EXPECT_EQ(mean_of(Squash::none, 1, {{1, 2}, {3, -2}, {8, 6}}), (std::vector<float>{4, 2}));
}

// Probabilities far below what a float holds still count, and a loss of the mean stays finite.
TEST(PredictionMean, VerySmallProbabilitiesDoNotVanish) {
  const std::vector<float> sure{400, 0}, surer{800, 0};
  const std::vector<float> mean = mean_of(Squash::softmax, 2, {sure, surer});
  EXPECT_NEAR(mean[0], 0, 1e-6);
  EXPECT_NEAR(mean[1], -400 - std::log(2.0), 1e-3);
  EXPECT_NEAR(mean_of(Squash::sigmoid, 1, {{-400}, {-800}})[0], -400 - std::log(2.0), 1e-3);
}

TEST(PredictionMean, OfEqualNetworksIsTheirPrediction) {
  const std::vector<float> scores{1.5f, -0.25f, 3, 0.125f};
  for (const int networks : {1, 2, 3, 7}) {
    const std::vector<std::vector<float>> all(static_cast<std::size_t>(networks), scores);
    EXPECT_EQ(mean_of(Squash::none, 4, all), scores);
    const std::vector<float> labels = mean_of(Squash::sigmoid, 4, all), classes = mean_of(Squash::softmax, 4, all);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_NEAR(labels[i], scores[i], 1e-6);
      EXPECT_NEAR(classes[i] - classes[0], scores[i] - scores[0], 1e-6);
    }
  }
}

}  // namespace
}  // namespace isobar::train
