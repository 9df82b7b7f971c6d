// What the loader does with samples that cannot be read, and that evaluation on many ranks sees each sample once.
#include <algorithm>
#include <new>
#include <set>

#include "isobar/feeding/loader.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::feeding {
namespace {

using namespace isobar::tests;

// x = [index, index], y = [index]; some samples throw after overwriting their memory.
class Flawed final : public datasets::Dataset {
 public:
  enum class Flaw { error, memory, mistake };
  Flawed(std::int64_t count, std::set<std::int64_t> bad, Flaw flaw = Flaw::error)
      : count_(count), bad_(std::move(bad)), flaw_(flaw) {}

  std::int64_t size() const override { return count_; }
  std::vector<datasets::Field> fields() const override { return {{"x", Shape{2}}, {"y", Shape{1}}}; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    for (const std::span<float> field : out) std::ranges::fill(field, static_cast<float>(index));
    if (!bad_.contains(index)) return;
    for (const std::span<float> field : out) std::ranges::fill(field, -1e30f);
    if (flaw_ == Flaw::memory) throw std::bad_alloc();
    expects(flaw_ != Flaw::mistake, "no mistake");
    fail("checksum is wrong");
  }
  std::string where(std::int64_t index) const override { return fmt::format("flawed.tfrecord sample {}", index); }

 private:
  std::int64_t count_;
  std::set<std::int64_t> bad_;
  Flaw flaw_;
};

void expect_rows(const Batch& batch) {
  ASSERT_EQ(batch.samples.size(), static_cast<std::size_t>(batch.count));
  for (std::int64_t row = 0; row < batch.fields[0].shape()[0]; ++row) {
    const float value = row < batch.count ? static_cast<float>(batch.samples[static_cast<std::size_t>(row)]) : 0.0f;
    for (const float x : batch.fields[0].row(row)) EXPECT_EQ(x, value);
    EXPECT_EQ(batch.fields[1].row(row)[0], value);
  }
}

TEST(BadSamples, SkippingClosesRowsUpForAnyThreads) {
  const std::set<std::int64_t> bad = {0, 3, 4, 17, 18, 19};
  const Flawed flawed(20, bad);
  const datasets::Sampler sampler{.count = 20, .batch = 6, .shuffle = false};
  for (const int threads : {1, 2, 5}) {
    Loader loader(flawed, sampler, {.threads = threads, .ahead = 3, .on_bad = OnBad::skip});
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::vector<std::int64_t> seen;
      std::vector<int> counts, skipped;
      while (const Batch* batch = loader.next()) {
        expect_rows(*batch);
        seen.insert(seen.end(), batch->samples.begin(), batch->samples.end());
        counts.push_back(batch->count);
        skipped.push_back(batch->skipped);
      }
      EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
      EXPECT_EQ(counts, (std::vector<int>{3, 6, 5, 0}));
      EXPECT_EQ(skipped, (std::vector<int>{3, 0, 1, 2}));
      EXPECT_EQ(loader.skipped(), 6 * (epoch + 1));
    }
    ASSERT_EQ(loader.first_skipped().size(), 8u);  // the first few are kept, over the epochs
    EXPECT_EQ(loader.first_skipped()[0], "reading flawed.tfrecord sample 0: checksum is wrong");
    EXPECT_EQ(loader.first_skipped()[5], "reading flawed.tfrecord sample 19: checksum is wrong");
  }
}

TEST(BadSamples, SkippingKeepsThePositionForResume) {
  const Flawed flawed(23, {2, 3, 5, 7, 11, 13});
  const datasets::Sampler sampler{.count = 23, .batch = 4};
  const LoaderOptions whole{.on_bad = OnBad::skip}, later{.epoch = 0, .step = 3, .on_bad = OnBad::skip};
  Loader all(flawed, sampler, whole), rest(flawed, sampler, later);
  for (int i = 0; i < 3; ++i) all.next();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(all.step(), rest.step());
    const Batch *a = all.next(), *b = rest.next();
    ASSERT_EQ(a == nullptr, b == nullptr);
    if (a) {
      EXPECT_EQ(a->samples, b->samples);
    }
  }
}

TEST(BadSamples, FailingIsTheDefault) {
  const Flawed flawed(4, {2});
  Loader loader(flawed, {.count = 4, .batch = 4, .shuffle = false}, {.threads = 2});
  EXPECT_EQ(error_of([&] { loader.next(); }), "reading flawed.tfrecord sample 2: checksum is wrong");
}

TEST(BadSamples, AnEpochOfNothingElseIsAnError) {
  const Flawed flawed(5, {0, 1, 2, 3, 4});
  Loader loader(flawed, {.count = 5, .batch = 2, .shuffle = false}, {.on_bad = OnBad::skip});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(loader.next()->count, 0);
  EXPECT_EQ(error_of([&] { loader.next(); }),
            "epoch 1: all 5 samples are bad; the first: reading flawed.tfrecord sample 0: checksum is wrong");
}

// Running out of memory, or a bug in the program, is not a sample's fault.
TEST(BadSamples, OnlyErrorsAreSkipped) {
  const datasets::Sampler sampler{.count = 2, .batch = 2, .shuffle = false};
  const Flawed memory(2, {1}, Flawed::Flaw::memory), mistake(2, {1}, Flawed::Flaw::mistake);
  Loader first(memory, sampler, {.on_bad = OnBad::skip}), second(mistake, sampler, {.on_bad = OnBad::skip});
  EXPECT_EQ(error_of([&] { first.next(); }), "reading flawed.tfrecord sample 1: there is not enough memory");
  EXPECT_THROW(second.next(), std::logic_error);
}

// Counts that do not divide evenly: no sample is read twice or left out, and all ranks make equally many steps.
TEST(BadSamples, EvaluationSeesEverySampleOnceOnAnyNumberOfRanks) {
  for (const std::int64_t count : {1, 7, 41}) {
    for (const std::int64_t batch : {1, 4, 16}) {
      for (int size = 1; size <= 8; ++size) {
        const Flawed flawed(count, {3, 40});
        std::multiset<std::int64_t> seen;
        std::set<std::int64_t> steps;
        std::int64_t skipped = 0;
        for (int rank = 0; rank < size; ++rank) {
          Loader loader(flawed, {.count = count, .batch = batch, .shuffle = false, .drop_last = false},
                        {.threads = 2, .rank = rank, .size = size, .on_bad = OnBad::skip});
          steps.insert(loader.batches());
          std::int64_t left = loader.batches();
          for (; left > 0; --left) {
            const Batch* delivered = loader.next();
            ASSERT_NE(delivered, nullptr);
            expect_rows(*delivered);
            seen.insert(delivered->samples.begin(), delivered->samples.end());
          }
          skipped += loader.skipped();
        }
        EXPECT_EQ(steps.size(), 1u);
        EXPECT_EQ(static_cast<std::int64_t>(seen.size()) + skipped, count);
        EXPECT_EQ(seen.size(), std::set<std::int64_t>(seen.begin(), seen.end()).size());
        EXPECT_EQ(skipped, count == 41 ? 2 : count == 7 ? 1 : 0);
      }
    }
  }
}

}  // namespace
}  // namespace isobar::feeding
