#include "isobar/datasets/sample_range.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

TEST(SampleRange, CountsFromItsFirstSample) {
  const std::shared_ptr<const Dataset> whole =
      make_dataset("atmosphere(height=16, width=24, count=9, hours=6, channels=[TMQ, PSL])");
  const auto part = sample_range(whole, 3, 7);
  EXPECT_EQ(part->size(), 4);
  EXPECT_EQ(read_sample(*part, 1), read_sample(*whole, 4));
  EXPECT_EQ(part->where(2), whole->where(5));
  EXPECT_EQ(part->channels(), whole->channels());
  EXPECT_EQ(part->classes(), whole->classes());
  ASSERT_TRUE(part->geography());
  EXPECT_EQ(part->geography()->time(0), whole->geography()->time(3));
  EXPECT_EQ(part->geography()->row.places, whole->geography()->row.places);
}

TEST(SampleRange, MustLieWithinTheSet) {
  const std::shared_ptr<const Dataset> whole = make_dataset("noise(shape=[2], targets=1, count=5)");
  EXPECT_EQ(sample_range(whole, 0, 5)->size(), 5);
  for (const auto& [first, last] : {std::pair{3, 3}, {-1, 2}, {2, 6}, {5, 6}})
    EXPECT_TRUE(contains(error_of([&, f = first, l = last] { sample_range(whole, f, l); }), "0:5"))
        << first << ":" << last;
}

}  // namespace
}  // namespace isobar::datasets
