// Surveys of maps: scores of each class, the ranking from best to worst, and the number of consecutive samples.
#include "isobar/pictures/map_survey.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/pictures/made_network.hpp"

namespace isobar::pictures {
namespace {

// Eight points of ground and rain; sample s predicts the first s of four rainy points.
MadeSet rain() {
  return {5, Shape{2, 4, 3}, Shape{2, 4}, [](std::int64_t sample, std::span<float> x, std::span<float> y) {
            for (std::size_t i = 0; i < 8; ++i) {
              y[i] = i < 4 ? 1.0f : 0.0f;
              x[3 * i] = 1, x[3 * i + 1] = static_cast<std::int64_t>(i) < sample ? 2.0f : 0.0f, x[3 * i + 2] = 0;
            }
          }};
}

TEST(MapSurvey, ScoresAndRanks) {
  const MadeSet set = rain();
  const MadeNetwork network(set, {"scale(by=1)"}, "softmax_cross_entropy");
  Subject subject(network.request);
  ASSERT_EQ(subject.task(), Task::maps);
  const MapSurvey& survey = map_survey(subject);
  ASSERT_EQ(survey.looks.size(), 5u);
  EXPECT_EQ(survey.ranked, (std::vector<std::size_t>{4, 2, 0}));
  EXPECT_DOUBLE_EQ(survey.looks[1].overlaps[1], 0.25);
  EXPECT_DOUBLE_EQ(survey.looks[1].overlaps[0], 4.0 / 7);
  EXPECT_TRUE(std::isnan(survey.looks[1].overlaps[2]));
  EXPECT_DOUBLE_EQ(survey.looks[1].score, 0.25);  // the ground does not count
  EXPECT_EQ(survey.looks[1].predicted, (std::vector<std::uint16_t>{1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(survey.consecutive, 0);
  EXPECT_EQ(&map_survey(subject), &survey);
  EXPECT_EQ(subject.choice(16, false).size(), 5u);
}

TEST(MapSurvey, EndsWhenThereWereEnoughPasses) {
  const MadeSet set = rain();
  MadeNetwork network(set, {"scale(by=1)"}, "softmax_cross_entropy");
  network.request.most_passes = 4, network.request.most_seconds = 0;
  Subject subject(network.request);
  EXPECT_EQ(map_survey(subject).looks.size(), 3u);  // three, however long they take
  EXPECT_FALSE(subject.view(0));
}

}  // namespace
}  // namespace isobar::pictures
