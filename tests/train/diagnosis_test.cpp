#include "isobar/train/diagnosis.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

// Two feeds of two samples each through a small network.
class DiagnosisTest : public testing::Test {
 protected:
  DiagnosisTest()
      : job_(small_job("nowhere", {"model=dense_net(dropout=0)"})),
        plan_(graph::make_plan(job_.model.graph(2))),
        store_(plan_, 0),
        executor_(plan_, store_) {
    store_.initialize(1);
    for (int f = 0; f < 2; ++f) {
      for (std::size_t i = 0; i < x_[f].size(); ++i) x_[f][i] = 0.01f * static_cast<float>(i % 7);
      feeds_.push_back({{{"x", x_[f]}, {"y", y_[f]}}, {.samples = samples_[f], .rows = 2, .total = 4}});
    }
  }
  Cause cause() { return find_cause(executor_, store_, feeds_, *job_.train_data); }

  Job job_;
  graph::Plan plan_;
  exec::ParamStore store_;
  exec::Executor executor_;
  std::vector<float> x_[2]{std::vector<float>(2 * 72), std::vector<float>(2 * 72)};
  std::vector<float> y_[2]{std::vector<float>(2 * 3), std::vector<float>(2 * 3)};
  std::vector<std::int64_t> samples_[2]{{11, 12}, {13, 14}};
  std::vector<parallel::Feed> feeds_;
};

TEST_F(DiagnosisTest, FindsNothingWhereAllIsFinite) {
  EXPECT_EQ(cause().order, Cause::none);
  EXPECT_EQ(cause().text, "");
}

TEST_F(DiagnosisTest, NamesTheSampleAndTheField) {
  y_[1][4] = std::numeric_limits<float>::quiet_NaN();
  const Cause second = cause();
  EXPECT_HAS(second.text, "sample 14 of the training set");
  EXPECT_HAS(second.text, "field 'y' has 1 of 3 not finite, the others from 0 to 0");
  // A bad number in an earlier batch comes first.
  x_[0][0] = std::numeric_limits<float>::infinity();
  const Cause first = cause();
  EXPECT_HAS(first.text, "sample 11");
  EXPECT_LT(first.order, second.order);
}

TEST_F(DiagnosisTest, AWeightComesBeforeEverything) {
  x_[0][0] = std::numeric_limits<float>::infinity();
  store_.weight(store_.find("fc2.b"))[0] = -std::numeric_limits<float>::infinity();
  EXPECT_HAS(cause().text, "weight 'fc2.b' has 1 of 3 not finite");
  EXPECT_EQ(cause().order, 0);
}

TEST_F(DiagnosisTest, NamesTheKernelItsSamplesAndWhatItRead) {
  std::ranges::fill(std::span(x_[0]).first(72), 0.0f);  // the first sample gives zeros throughout
  for (float& w : store_.weight(store_.find("fc1.w"))) w = 2;
  for (float& w : store_.weight(store_.find("fc2.w"))) w = 3e38f;
  const Cause found = cause();
  EXPECT_HAS(found.text, "layer 'fc2', forward pass");
  EXPECT_HAS(found.text, "3 of 6 not finite, the others from 0 to 0 (sample 12)");
  EXPECT_HAS(found.text, "read before: '");
  EXPECT_HAS(found.text, "'fc2.w' from 3e+38 to 3e+38");
}

}  // namespace
}  // namespace isobar::train
