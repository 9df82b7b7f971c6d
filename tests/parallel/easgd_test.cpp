// easgd on a model of one weight, by hand.
#include <cmath>

#include "tests/parallel/descents_apart.hpp"

namespace isobar::parallel::trials {
namespace {

using Weights = std::vector<float>;

// Curvatures 1 and 3 at a rate of 1/4, a force of 1/4 on each: x <- x - r h x - (x - c) / 4, from the second step on.
TEST(KnownAnswer, easgd) {
  const CourseApart course = descend_apart({"easgd(period=1, beta=0.5)", {{1}, {3}}, {}, 0.25, 3});
  EXPECT_EQ(course.weights[0], (Weights{0.75f, 0.625f, 0.5f}));
  EXPECT_EQ(course.weights[1], (Weights{0.25f, 0.25f, 0.1875f}));
  EXPECT_EQ(course.judged, (Weights{1, 0.75f, 0.59375f})) << "the centre";
  EXPECT_EQ(course.last, 0.59375f);
}

// Without a rate one exchange moves the centre to (1 - beta) c + beta mean(x), and the sum of all stays what it was.
TEST(KnownAnswer, easgd_keeps_the_sum_of_all) {
  for (const double beta : {0.5, 0.9}) {
    const CourseApart course =
        descend_apart({fmt::format("easgd(period=1, beta={})", beta), {{1}, {1}, {1}, {1}}, {1, 2, 3, 6}, 0, 2});
    EXPECT_NEAR(course.judged[1], (1 - beta) * 1 + beta * 3, 1e-6);
    double sum = course.judged[1];
    for (const Weights& of_rank : course.weights) sum += of_rank[1];
    EXPECT_NEAR(sum, 13, 1e-5);
  }
}

TEST(KnownAnswer, easgd_without_a_force_is_separate_runs) {
  const CourseApart course = descend_apart({"easgd(period=1, beta=0)", {{1}, {3}}});
  EXPECT_EQ(course.weights[0], (Weights{0.75f, 0.5625f, 0.421875f, 0.31640625f}));
  EXPECT_EQ(course.weights[1], (Weights{0.25f, 0.0625f, 0.015625f, 0.00390625f}));
  EXPECT_EQ(course.judged, (Weights{1, 1, 1, 1}));
}

TEST(KnownAnswer, easgd_acts_every_period) {
  const CourseApart course = descend_apart({"easgd(period=2, beta=0.5)", {{1}, {3}}});
  EXPECT_EQ(course.judged, (Weights{1, 1, 0.65625f, 0.65625f})) << "1 - (1 - 0.5625) / 4 - (1 - 0.0625) / 4";
}

// One rank on a quadratic of curvature 1: stable up to a force of (4 - 2 r) / (4 - r).
TEST(KnownAnswer, easgd_is_stable_up_to_its_edge) {
  for (const double rate : {0.5, 1.0, 1.5}) {
    const double edge = (4 - 2 * rate) / (4 - rate);
    const auto last = [&](double force) {
      const CourseApart course = descend_apart({fmt::format("easgd(period=1, beta={})", force), {{1}}, {}, rate, 600});
      return std::abs(course.weights[0].back());
    };
    EXPECT_LT(last(0.98 * edge), 1e-2) << "a rate of " << rate;
    EXPECT_GT(last(1.02 * edge), 1e2) << "a rate of " << rate;
  }
}

}  // namespace
}  // namespace isobar::parallel::trials
