#include "isobar/feeding/sample_store.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <set>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/datasets/region_dataset.hpp"
#include "isobar/feeding/loader.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::feeding {
namespace {

using namespace isobar::tests;

// x = [index, 0.5, -index], y = [index + 1000]; counts the reads of every sample.
class Numbered final : public datasets::Dataset {
 public:
  explicit Numbered(std::int64_t count, std::set<std::int64_t> bad = {}, std::vector<std::int64_t> files = {})
      : reads(static_cast<std::size_t>(count)), count_(count), bad_(std::move(bad)), files_(std::move(files)) {}

  std::int64_t size() const override { return count_; }
  std::vector<datasets::Field> fields() const override { return {{"x", Shape{3}}, {"y", Shape{1}}}; }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override {
    ++reads[static_cast<std::size_t>(index)];
    if (bad_.contains(index)) fail("the record is torn");
    const auto number = static_cast<float>(index);
    out[0][0] = number, out[0][1] = 0.5f, out[0][2] = -number;
    out[1][0] = number + 1000;
  }
  std::string where(std::int64_t index) const override { return fmt::format("numbered sample {}", index); }
  std::vector<datasets::FileSpan> spans() const override {
    std::vector<datasets::FileSpan> list;
    std::int64_t first = 0;
    for (const std::int64_t count : files_) {
      list.push_back({fmt::format("file{}", list.size()), first, count});
      first += count;
    }
    return list;
  }

  mutable std::vector<std::atomic<int>> reads;

 private:
  std::int64_t count_;
  std::set<std::int64_t> bad_;
  std::vector<std::int64_t> files_;
};

void sample_store_expect_rows(const Batch& batch) {
  for (std::int64_t row = 0; row < batch.count; ++row) {
    const auto sample = static_cast<float>(batch.samples[static_cast<std::size_t>(row)]);
    const std::span<float> x = batch.fields[0].row(row);
    EXPECT_EQ((std::vector<float>(x.begin(), x.end())), (std::vector<float>{sample, 0.5f, -sample}));
    EXPECT_EQ(batch.fields[1].row(row)[0], sample + 1000);
  }
}

TEST(SampleStore, EverySampleReachesItsRankEveryEpochAndIsReadOnce) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (const Hold hold : {Hold::float32, Hold::float16, Hold::bfloat16}) {
      const std::int64_t count = 53;
      const auto numbered = std::make_shared<const Numbered>(count);
      const datasets::Sampler sampler{.count = count, .batch = 7, .seed = 5};
      std::atomic<std::int64_t> samples_read = 0, sent = 0, received = 0;
      comm::run_ranks(ranks, [&](comm::Comm& comm) {
        const SampleStore store(numbered, {.hold = hold, .ahead = 1 + comm.rank() % 3, .threads = 2}, comm);
        {
          Loader loader(
              store, sampler,
              {.threads = 1 + comm.rank() % 2, .ahead = 2, .rank = comm.rank(), .size = ranks, .last_epoch = 3});
          for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
            for (std::int64_t step = 0; const Batch* batch = loader.next(); ++step) {
              EXPECT_EQ(batch->samples, sampler.samples(epoch, step, comm.rank(), ranks));
              sample_store_expect_rows(*batch);
            }
          }
        }
        samples_read += store.counters().samples_read;
        sent += store.counters().bytes_sent;
        received += store.counters().bytes_received;
      });
      EXPECT_EQ(samples_read, count);
      EXPECT_EQ(sent, received);
      EXPECT_EQ(sent == 0, ranks == 1);
      for (const auto& reads : numbered->reads) EXPECT_EQ(reads, 1);
    }
  }
}

TEST(SampleStore, GoesOnAnywhereAndCanBeLeftInTheMiddle) {
  const auto numbered = std::make_shared<const Numbered>(40);
  const datasets::Sampler sampler{.count = 40, .batch = 8};
  comm::run_ranks(3, [&](comm::Comm& comm) {
    const SampleStore store(numbered, {}, comm);
    for (const auto& [epoch, step] : {std::pair{0, 3}, {2, 0}, {1, 5}}) {  // several courses, none to its end
      Loader loader(store, sampler, {.threads = 2, .rank = comm.rank(), .size = 3, .epoch = epoch, .step = step});
      for (int i = 0; i < 4; ++i) {
        const std::int64_t e = loader.epoch(), s = loader.step();
        if (const Batch* batch = loader.next()) {
          EXPECT_EQ(batch->samples, sampler.samples(e, s, comm.rank(), 3));
          sample_store_expect_rows(*batch);
        }
      }
    }
  });
}

TEST(SampleStore, SharesAreWholeFilesWhereThereAreEnough) {
  const Numbered files(20, {}, {3, 3, 1, 6, 2, 5});
  EXPECT_EQ(share_bounds(files, 1), (std::vector<std::int64_t>{0, 20}));
  EXPECT_EQ(share_bounds(files, 2), (std::vector<std::int64_t>{0, 13, 20}));
  EXPECT_EQ(share_bounds(files, 3), (std::vector<std::int64_t>{0, 6, 13, 20}));
  EXPECT_EQ(share_bounds(files, 6), (std::vector<std::int64_t>{0, 3, 6, 7, 13, 15, 20}));
  EXPECT_EQ(share_bounds(files, 8), (std::vector<std::int64_t>{0, 2, 5, 7, 10, 12, 15, 17, 20}));
  EXPECT_EQ(share_bounds(Numbered(7), 3), (std::vector<std::int64_t>{0, 2, 4, 7}));
}

TEST(SampleStore, MemoryIsBoundedByTheQuota) {
  const auto numbered = std::make_shared<const Numbered>(100);  // 16 bytes each
  EXPECT_HAS(
      error_of([&] { comm::run_ranks(4, [&](comm::Comm& comm) { SampleStore(numbered, {.max_bytes = 399}, comm); }); }),
      "rank 0 would hold 25 samples in 400 B, more than the 399 B");
  for (const auto& reads : numbered->reads) EXPECT_EQ(reads, 0);  // refused before anything was read
  comm::run_ranks(4, [&](comm::Comm& comm) {
    const SampleStore store(numbered, {.max_bytes = 400 + 3 * 2 * 16, .ahead = 2}, comm);
    EXPECT_EQ(store.counters().bytes_held, 400);
    Loader fits(store, {.count = 100, .batch = 8}, {.rank = comm.rank(), .size = 4, .last_epoch = 1});
    EXPECT_NE(fits.next(), nullptr);
  });
  EXPECT_HAS(error_of([&] {
               comm::run_ranks(4, [&](comm::Comm& comm) {
                 const SampleStore store(numbered, {.max_bytes = 400 + 3 * 2 * 16 - 1, .ahead = 2}, comm);
                 Loader(store, {.count = 100, .batch = 8}, {.rank = comm.rank(), .size = 4});
               });
             }),
             "3 batches on their way");
}

TEST(SampleStore, ABadSampleEndsAllRanksOrIsSkippedByAll) {
  const std::int64_t count = 30;
  const auto torn = std::make_shared<const Numbered>(count, std::set<std::int64_t>{4, 22});
  const datasets::Sampler sampler{.count = count, .batch = 6};
  for (int ranks = 1; ranks <= 5; ++ranks) {
    std::mutex mutex;
    std::set<std::string> told;
    const std::string message = error_of([&] {
      comm::run_ranks(ranks, [&](comm::Comm& comm) {
        try {
          SampleStore(torn, {.threads = 2}, comm);
        } catch (const comm::Aborted& aborted) {
          const std::lock_guard lock(mutex);
          told.insert(aborted.what());
          throw;
        }
      });
    });
    EXPECT_HAS(message, "reading numbered sample ");
    EXPECT_HAS(message, ": the record is torn");
    EXPECT_LE(told.size(), 1u);

    std::atomic<std::int64_t> skipped = 0, rows = 0;
    comm::run_ranks(ranks, [&](comm::Comm& comm) {
      const SampleStore store(torn, {.keep_bad = true}, comm);
      Loader loader(store, sampler,
                    {.threads = 2, .rank = comm.rank(), .size = ranks, .last_epoch = 2, .on_bad = OnBad::skip});
      for (int epoch = 0; epoch < 2; ++epoch)
        while (const Batch* batch = loader.next()) {
          sample_store_expect_rows(*batch);
          rows += batch->count;
        }
      skipped += loader.skipped();
    });
    EXPECT_EQ(skipped, 4);
    EXPECT_EQ(rows, 2 * (count - 2));
  }
}

// A rank fails while all train: no other rank is left waiting for its samples.
TEST(SampleStore, AFailureWhileTrainingEndsAllRanks) {
  const auto numbered = std::make_shared<const Numbered>(64);
  for (int victim = 0; victim < 4; ++victim)
    for (const int after : {0, 1, 5}) {
      EXPECT_EQ(error_of([&] {
                  comm::run_ranks(4, [&](comm::Comm& comm) {
                    const SampleStore store(numbered, {}, comm);
                    Loader loader(store, {.count = 64, .batch = 8}, {.threads = 2, .rank = comm.rank(), .size = 4});
                    for (int step = 0; step < 100; ++step) {
                      if (comm.rank() == victim && step == after) fail("a core melted");
                      loader.next();
                    }
                  });
                }),
                fmt::format("[rank {}] a core melted", victim));
    }
}

TEST(Hold, HalvesAreTheNearestNumbers) {
  const std::vector<float> numbers = {0, -0.0f, 1, -1.5f, 65504, 1.0f / 3, 2049, 6e-8f, INFINITY, -INFINITY};
  const auto through = [&](Hold hold, const std::vector<float>& in) {
    std::vector<std::byte> held(in.size() * 4);
    std::vector<float> out(in.size());
    narrow(hold, in, held.data());
    widen(hold, held.data(), out);
    return out;
  };
  EXPECT_EQ(through(Hold::float32, numbers), numbers);
  EXPECT_EQ(through(Hold::float16, numbers),
            (std::vector<float>{0, -0.0f, 1, -1.5f, 65504, 0.333251953125f, 2048, 0x1p-24f, INFINITY, -INFINITY}));
  EXPECT_EQ(through(Hold::bfloat16, {1, 1.0f / 3, 257, 1e30f, -2.5f}),
            (std::vector<float>{1, 0.333984375f, 256, through(Hold::bfloat16, {1e30f})[0], -2.5f}));
  EXPECT_NEAR(through(Hold::bfloat16, {1e30f})[0], 1e30f, 4e27f);
  EXPECT_TRUE(std::isnan(through(Hold::float16, {NAN})[0]));
  EXPECT_TRUE(std::isnan(through(Hold::bfloat16, {NAN})[0]));
  EXPECT_HAS(error_of([&] { through(Hold::float16, {1, 70000}); }), "70000 does not fit float16");
}

// x [6, 5, 2] and y [6] of 23 samples, all different.
std::shared_ptr<const datasets::Dataset> volumes_for_store() {
  return datasets::make_dataset("noise(shape=[6, 5, 2], targets=[6], count=23)");
}

TEST(SampleStore, HoldsWhatIsReadOfSamples) {
  const auto volumes = volumes_for_store();
  const datasets::Region region{Box::whole(Shape{6, 5, 2}).with(0, 1, 3), Box::whole(Shape{6}).with(0, 2, 2)};
  for (const bool reduced : {false, true})
    for (int ranks = 1; ranks <= 4; ++ranks) {
      const datasets::Sampler sampler{.count = 23, .batch = 6, .seed = 5};
      comm::run_ranks(ranks, [&](comm::Comm& comm) {
        StoreOptions options;
        if (reduced) options.region = region;
        const auto store = std::make_shared<const SampleStore>(volumes, options, comm);
        const std::int64_t numbers = reduced ? 3 * 5 * 2 + 2 : 6 * 5 * 2 + 6;
        EXPECT_EQ(store->counters().bytes_held, (store->last() - store->first()) * numbers * 4);
        const datasets::Region smaller{region[0].with(1, 1, 3), region[1]};
        for (const datasets::Region& wanted : {region, smaller}) {
          const auto view = datasets::region_of(store, wanted);
          Loader loader(*view, sampler, {.threads = 2, .rank = comm.rank(), .size = ranks, .last_epoch = 2});
          for (int epoch = 0; epoch < 2; ++epoch)
            while (const Batch* batch = loader.next())
              for (std::int64_t row = 0; row < batch->count; ++row) {
                const auto parts =
                    cut_out(*volumes, read_sample(*volumes, batch->samples[static_cast<std::size_t>(row)]), wanted);
                for (std::size_t f = 0; f < 2; ++f) {
                  const std::span<float> found = batch->fields[f].row(row);
                  EXPECT_EQ((std::vector<float>(found.begin(), found.end())), parts[f]);
                }
              }
        }
        if (store->first() == store->last()) return;
        const datasets::Region more{region[0].with(0, 1, 4), region[1]};
        if (reduced) EXPECT_HAS(error_of([&] { read_region(*store, store->first(), more); }), "is not held here");
        else EXPECT_EQ(read_sample(*store, store->first()), read_sample(*volumes, store->first()));
      });
    }
}

TEST(SampleStore, NarrowNumbersHaveRegionsToo) {
  const auto volumes = volumes_for_store();
  const datasets::Region held{Box::whole(Shape{6, 5, 2}).with(0, 1, 3).with(1, 1, 3), Box::whole(Shape{6})};
  comm::run_ranks(1, [&](comm::Comm& comm) {
    const SampleStore whole(volumes, {.hold = Hold::bfloat16}, comm);
    const SampleStore part(volumes, {.hold = Hold::bfloat16, .region = held}, comm);
    const datasets::Region wanted{held[0].with(0, 2, 2), held[1].with(0, 3, 1)};
    EXPECT_EQ(read_region(part, 7, wanted), cut_out(whole, read_sample(whole, 7), wanted));
  });
}

}  // namespace
}  // namespace isobar::feeding
