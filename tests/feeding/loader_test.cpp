#include "isobar/feeding/loader.hpp"

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <tuple>

#include "isobar/base/clock.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::feeding {
namespace {

using namespace isobar::tests;

// x = [index, index, index], y = [-index]. Counts reads; may be slow in an uneven way, and may fail.
class Numbers final : public datasets::Dataset {
 public:
  explicit Numbers(std::int64_t count, std::set<std::int64_t> bad = {}, int pause_microseconds = 0)
      : count_(count), bad_(std::move(bad)), pause_(pause_microseconds) {}

  std::int64_t size() const override { return count_; }
  std::vector<datasets::Field> fields() const override { return {{"x", Shape{3}}, {"y", Shape{1}}}; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    expects_request(index, out);
    ++reads;
    if (pause_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(pause_ * (index % 4)));
    if (bad_.contains(index)) fail("the disk is gone");
    for (float& x : out[0]) x = static_cast<float>(index);
    out[1][0] = -static_cast<float>(index);
  }
  std::string where(std::int64_t index) const override { return fmt::format("numbers.h5 sample {}", index); }

  mutable std::atomic<std::int64_t> reads = 0;

 private:
  std::int64_t count_;
  std::set<std::int64_t> bad_;
  int pause_;
};

void loader_expect_rows(const Batch& batch) {
  ASSERT_EQ(batch.fields.size(), 2u);
  ASSERT_EQ(batch.samples.size(), static_cast<std::size_t>(batch.count));
  for (std::int64_t row = 0; row < batch.fields[0].shape()[0]; ++row) {
    const float value = row < batch.count ? static_cast<float>(batch.samples[static_cast<std::size_t>(row)]) : 0.0f;
    for (const float x : batch.fields[0].row(row)) EXPECT_EQ(x, value);
    EXPECT_EQ(batch.fields[1].row(row)[0], -value);
  }
}

// What a loader delivers in `epochs` epochs: per batch its epoch, step and samples.
std::vector<std::vector<std::int64_t>> deliveries(Loader& loader, int epochs) {
  std::vector<std::vector<std::int64_t>> list;
  while (epochs > 0) {
    const std::int64_t epoch = loader.epoch(), step = loader.step();
    const Batch* batch = loader.next();
    if (!batch) {
      --epochs;
      continue;
    }
    EXPECT_EQ(batch->epoch, epoch);
    EXPECT_EQ(batch->step, step);
    loader_expect_rows(*batch);
    list.push_back({batch->epoch, batch->step});
    list.back().insert(list.back().end(), batch->samples.begin(), batch->samples.end());
  }
  return list;
}

TEST(Loader, SameBatchesForAnyThreadsAndDepth) {
  const Numbers numbers(50, {}, 100);
  const datasets::Sampler sampler{.count = 50, .batch = 8};
  std::vector<std::vector<std::int64_t>> wanted;
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    for (std::int64_t b = 0; b < sampler.batches(); ++b) {
      wanted.push_back({epoch, b});
      for (const std::int64_t s : sampler.samples(epoch, b, 0, 1)) wanted.back().push_back(s);
    }
  }
  for (const int threads : {1, 2, 7}) {
    for (const int ahead : {1, 5}) {
      Loader loader(numbers, sampler, {.threads = threads, .ahead = ahead});
      EXPECT_EQ(loader.batches(), 7);
      EXPECT_EQ(deliveries(loader, 3), wanted) << threads << " threads, " << ahead << " ahead";
    }
  }
}

TEST(Loader, ResumesAnywhere) {
  const Numbers numbers(23);
  const datasets::Sampler sampler{.count = 23, .batch = 4};
  Loader whole(numbers, sampler);
  const auto all = deliveries(whole, 3);  // 6 batches per epoch
  for (const auto& [epoch, step, from] : {std::tuple{0, 5, 5}, std::tuple{1, 0, 6}, std::tuple{1, 3, 9}}) {
    Loader rest(numbers, sampler, {.threads = 3, .epoch = epoch, .step = step});
    const auto list = deliveries(rest, 3 - epoch);
    EXPECT_EQ(list, decltype(all)(all.begin() + from, all.end()));
  }
  Loader at_end(numbers, sampler, {.epoch = 1, .step = 6});
  EXPECT_EQ(at_end.next(), nullptr);
  EXPECT_EQ(at_end.epoch(), 2);
  EXPECT_EQ(deliveries(at_end, 1), decltype(all)(all.begin() + 12, all.end()));
}

TEST(Loader, RanksShareBatchesAndMayHaveNoRows) {
  const Numbers numbers(9);
  const datasets::Sampler sampler{.count = 9, .batch = 4};  // the last batch has one sample
  std::vector<std::vector<std::int64_t>> joined(3);
  for (int rank = 0; rank < 3; ++rank) {
    Loader loader(numbers, sampler, {.threads = 2, .rank = rank, .size = 3});
    for (std::size_t b = 0; b < 3; ++b) {
      const Batch* batch = loader.next();
      ASSERT_NE(batch, nullptr);
      EXPECT_EQ(batch->fields[0].shape(), (Shape{2, 3}));
      loader_expect_rows(*batch);
      joined[b].insert(joined[b].end(), batch->samples.begin(), batch->samples.end());
      EXPECT_EQ(batch->count, b < 2 ? (rank == 2 ? 2 : 1) : (rank == 2 ? 1 : 0));
    }
    EXPECT_EQ(loader.next(), nullptr);
  }
  for (std::int64_t b = 0; b < 3; ++b) EXPECT_EQ(joined[static_cast<std::size_t>(b)], sampler.samples(0, b, 0, 1));
}

TEST(Loader, ABatchStaysAsItIsUntilTheNextCall) {
  const Numbers numbers(400);
  Loader loader(numbers, {.count = 400, .batch = 2}, {.threads = 4, .ahead = 1});
  for (int i = 0; i < 50; ++i) {
    const Batch* batch = loader.next();
    ASSERT_NE(batch, nullptr);
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // readers would have time to overwrite it
    loader_expect_rows(*batch);
  }
}

TEST(Loader, BatchesThatAreKeptStayAsTheyAre) {
  const Numbers numbers(400);
  const datasets::Sampler sampler{.count = 400, .batch = 2};
  Loader loader(numbers, sampler, {.threads = 4, .ahead = 1, .held = 3});
  std::int64_t step = 0;
  for (int i = 0; i < 40; ++i) {
    std::vector<const Batch*> batches;
    for (int kept = 0; kept < 1 + i % 3; ++kept) batches.push_back(loader.next(kept > 0));
    for (const Batch* batch : batches) {
      EXPECT_EQ(batch->samples, sampler.samples(0, step++, 0, 1));
      loader_expect_rows(*batch);
    }
  }
  loader.next();
  loader.next(true);
  loader.next(true);
  EXPECT_THROW(loader.next(true), std::logic_error);
}

TEST(Loader, ReadsNoFurtherAheadThanAsked) {
  const Numbers numbers(1000);
  Loader loader(numbers, {.count = 1000, .batch = 10}, {.threads = 3, .ahead = 4});
  ASSERT_NE(loader.next(), nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LE(numbers.reads, 50);  // the one being read and four more
  EXPECT_GE(numbers.reads, 10);
}

TEST(Loader, BuffersAreRecycled) {
  const Numbers numbers(100);
  Loader loader(numbers, {.count = 100, .batch = 5}, {.threads = 2, .ahead = 2});
  std::set<const float*> seen;
  for (int i = 0; i < 60; ++i)
    if (const Batch* batch = loader.next()) seen.insert(batch->fields[0].data());
  EXPECT_LE(seen.size(), 3u);
}

TEST(Loader, AFailureArrivesWithItsBatch) {
  const datasets::Sampler in_order{.count = 40, .batch = 10, .shuffle = false};
  for (const int threads : {1, 4}) {
    const Numbers numbers(40, {25, 23, 37}, 50);
    Loader loader(numbers, in_order, {.threads = threads, .ahead = 3});
    ASSERT_NE(loader.next(), nullptr);
    ASSERT_NE(loader.next(), nullptr);
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(error_of([&] { loader.next(); }), "reading numbers.h5 sample 23: the disk is gone");
  }
}

TEST(Loader, EndsPromptlyInTheMiddle) {
  const Numbers numbers(100'000, {}, 300);
  for (int i = 0; i < 20; ++i) {
    Loader loader(numbers, {.count = 100'000, .batch = 10'000}, {.threads = 4, .ahead = 2});
    if (i % 2) std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  EXPECT_LT(numbers.reads, 60'000);  // of 600,000 that could have been read ahead
}

TEST(Loader, CountsTheTimeItWaited) {
  const Numbers slow(4, {}, 100'000);
  Loader waits(slow, {.count = 4, .batch = 4});
  waits.next();
  EXPECT_GT(waits.wait_seconds(), 0.0);  // 0.6 s of reading can hardly go unnoticed

  const Numbers fast(8);
  Loader ready(fast, {.count = 8, .batch = 8});
  while (fast.reads < 24) std::this_thread::yield();  // three batches: all that can be read ahead
  ready.next();
  EXPECT_EQ(ready.wait_seconds(), 0.0);
}

TEST(Loader, BadOptionsAreErrors) {
  const Numbers numbers(10);
  const datasets::Sampler sampler{.count = 10, .batch = 5};
  EXPECT_HAS(error_of([&] { Loader(numbers, sampler, {.threads = 0}); }), "threads = 0");
  EXPECT_HAS(error_of([&] { Loader(numbers, sampler, {.ahead = 0}); }), "ahead = 0");
  EXPECT_HAS(error_of([&] { Loader(numbers, sampler, {.step = 3}); }), "batches 0 to 1");
  EXPECT_HAS(error_of([&] { Loader(numbers, {.count = 0}); }), "0 samples");
  EXPECT_THROW(Loader(numbers, {.count = 11}), std::logic_error);
}

TEST(Loader, ReadingIsRecordedBatchByBatchWithItsBytes) {
  const Numbers numbers(20);
  for (const int threads : {1, 3}) {
    StepTrace trace;
    trace.begin_step(1, now_seconds(), true);
    {
      Loader loader(numbers, {.count = 20, .batch = 6}, {.threads = threads, .last_epoch = 1, .trace = &trace});
      while (loader.next()) {
      }
    }
    double bytes = 0;
    std::int64_t events = 0;
    for (const Event& event : trace.end_step(now_seconds())) {
      if (event.lane != Lane::reader) continue;
      EXPECT_EQ(trace.main().names()[event.name], "reading a batch");
      EXPECT_EQ(event.category, Category::input_output);
      bytes += event.bytes;
      ++events;
    }
    EXPECT_EQ(bytes, 4.0 * 6 * (3 + 1) * sizeof(float)) << "four batches of six rows, the last one not full";
    EXPECT_GE(events, threads == 1 ? 4 : 1);
    EXPECT_LE(events, threads == 1 ? 4 : 24);
  }
}

}  // namespace
}  // namespace isobar::feeding
