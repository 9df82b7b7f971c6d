#include "isobar/train/feeds.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"

namespace isobar::train {
namespace {

class Feeds : public testing::Test {
 protected:
  Feeds() {
    for (const datasets::Field& field : set->fields()) {
      std::vector<std::int64_t> extents{4};
      extents.insert(extents.end(), field.shape.extents().begin(), field.shape.extents().end());
      const std::span<float> numbers = batch.fields.emplace_back(Shape(extents)).span();
      std::iota(numbers.begin(), numbers.end(), 0.0f);
    }
    batch.count = 3;
    plan.inputs = {{"x", Shape{2, 3, 2}}};
  }

  std::unique_ptr<datasets::Dataset> set = datasets::make_dataset("noise(shape=[3, 2], targets=1, count=8)");
  feeding::Batch batch;
  graph::Plan plan;
};

TEST_F(Feeds, InputsAreTheRowsOfTheFieldsThatThePlanNames) {
  const auto inputs = named_inputs(plan, *set, batch, 2);
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].first, "x");
  ASSERT_EQ(inputs[0].second.size(), 12u);
  EXPECT_EQ(inputs[0].second[0], 12);
}

TEST_F(Feeds, FirstRowsAreThoseWithSamples) {
  EXPECT_EQ(first_rows(*set, batch, "x").size(), 18u);
  EXPECT_EQ(first_rows(*set, batch, "y").size(), 3u);
  EXPECT_TRUE(first_rows(*set, batch, "z").empty());
}

TEST_F(Feeds, DataThatDoNotFitTheNetworkAreAnError) {
  expect_fields(plan, *set, "data.train");
  plan.inputs = {{"z", Shape{2, 1}}};
  EXPECT_HAS(tests::error_of([&] { expect_fields(plan, *set, "data.train"); }),
             "data.train: the network needs the field 'z'; the data set has x, y");
  plan.inputs = {{"x", Shape{2, 3, 4}}};
  EXPECT_HAS(tests::error_of([&] { expect_fields(plan, *set, "data.test"); }), "the network expects 3x4");
}

}  // namespace
}  // namespace isobar::train
