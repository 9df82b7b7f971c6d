#include "isobar/datasets/sample_subset.hpp"

#include <algorithm>

#include "isobar/datasets/region_dataset.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;
using Numbers = std::vector<std::int64_t>;

// The numbers come from another program with the same rule: the smallest values of Philox, keyed by seed and stream.
TEST(ChosenSamples, FollowFromSeedAndNumberAlone) {
  EXPECT_EQ(choose_samples(20, 0.25, 1).chosen, (Numbers{6, 10, 15, 16, 18}));
  EXPECT_EQ(choose_samples(20, 0.25, 2).chosen, (Numbers{2, 6, 11, 12, 16}));
  EXPECT_EQ(choose_samples(22, 0.28, 1).chosen, (Numbers{0, 6, 10, 15, 16, 18}));
}

TEST(ChosenSamples, AreTheRoundedShareAndAllOthersAreLeft) {
  for (const auto& [count, share, wanted] :
       {std::tuple{100, 0.1, 10}, {101, 0.5, 51}, {22, 0.1, 2}, {3, 0.01, 1}, {2, 0.99, 1}, {50'000, 0.1, 5'000}}) {
    const ChosenSamples samples = choose_samples(count, share, 7);
    EXPECT_EQ(std::ssize(samples.chosen), wanted);
    EXPECT_TRUE(std::ranges::is_sorted(samples.chosen));
    EXPECT_TRUE(std::ranges::is_sorted(samples.others));
    Numbers all = samples.chosen;
    all.insert(all.end(), samples.others.begin(), samples.others.end());
    std::ranges::sort(all);
    ASSERT_EQ(std::ssize(all), count);
    for (std::int64_t i = 0; i < count; ++i) ASSERT_EQ(all[i], i);
  }
}

// A larger share of the same samples has all those of a smaller one.
TEST(ChosenSamples, OfASmallerShareAreAmongThoseOfALarger) {
  const Numbers few = choose_samples(1000, 0.1, 3).chosen, many = choose_samples(1000, 0.2, 3).chosen;
  EXPECT_TRUE(std::ranges::includes(many, few));
}

TEST(ChosenSamples, AShareIsBetweenNoneAndAll) {
  for (const double share : {0.0, 1.0, -0.1, 1.5})
    EXPECT_HAS(error_of([&] { choose_samples(10, share, 1); }), "above 0 and below 1");
  EXPECT_HAS(error_of([] { choose_samples(1, 0.5, 1); }), "at least 2");
}

TEST(SampleSubset, ReadsTheSamplesOfTheWhole) {
  const std::shared_ptr<const Dataset> whole =
      make_dataset("atmosphere(height=16, width=24, count=9, hours=6, channels=[TMQ, PSL])");
  const auto part = sample_subset(whole, {1, 4, 8});
  EXPECT_EQ(part->size(), 3);
  EXPECT_EQ(part->channels(), whole->channels());
  EXPECT_EQ(part->classes(), whole->classes());
  for (const auto& [mine, theirs] : {std::pair{0, 1}, {1, 4}, {2, 8}}) {
    EXPECT_EQ(read_sample(*part, mine), read_sample(*whole, theirs));
    EXPECT_EQ(part->where(mine), whole->where(theirs));
    EXPECT_EQ(part->geography()->time(mine), whole->geography()->time(theirs));
  }
  Region region = whole_region(whole->fields());
  region[0] = {{2, 3, 1}, Shape{4, 5, 1}};
  region[1] = {{2, 3}, Shape{4, 5}};
  EXPECT_EQ(read_region(*part, 1, region), read_region(*whole, 4, region));
  EXPECT_EQ(read_sample(*region_of(part, region), 2), read_region(*whole, 8, region));
}

class InFiles final : public Dataset {
 public:
  std::int64_t size() const override { return 10; }
  std::vector<Field> fields() const override { return {{"x", Shape{1}}}; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    out[0][0] = static_cast<float>(index);
  }
  std::vector<FileSpan> spans() const override { return {{"a", 0, 4}, {"b", 4, 2}, {"c", 6, 4}}; }
};

TEST(SampleSubset, KnowsWhatIsLeftOfEveryFile) {
  const std::vector<FileSpan> spans = sample_subset(std::make_shared<InFiles>(), {0, 3, 7, 8, 9})->spans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].file, "a");
  EXPECT_EQ(spans[0].first, 0);
  EXPECT_EQ(spans[0].count, 2);
  EXPECT_EQ(spans[1].file, "c");
  EXPECT_EQ(spans[1].first, 2);
  EXPECT_EQ(spans[1].count, 3);
}

}  // namespace
}  // namespace isobar::datasets
