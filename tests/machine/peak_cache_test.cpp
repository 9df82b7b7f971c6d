// Peaks are measured once per kind of machine and remembered; if the file is damaged, they are measured again.
#include "isobar/machine/peak_cache.hpp"

#include <atomic>
#include <fstream>

#include <gtest/gtest.h>

#include "isobar/base/cache_file.hpp"
#include "isobar/comm/local_comm.hpp"

#include "tests/temporary_folder.hpp"

using namespace isobar;
using machine::KnownPeaks;
using machine::PeakCache;

namespace {

const std::string key = "some processor; 1 ranks";

KnownPeaks example() { return {{3.5e11, 2.25e10, 2}, "2026-11-16"}; }

TEST(PeakCache, TextReadsBack) {
  const auto known = machine::parse_peaks(machine::peaks_text(example(), key), key);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->peaks.flops_per_second, 3.5e11);
  EXPECT_EQ(known->peaks.bytes_per_second, 2.25e10);
  EXPECT_EQ(known->peaks.threads, 2);
  EXPECT_EQ(known->day, "2026-11-16");
}

TEST(PeakCache, DamagedTextIsAsGoodAsNone) {
  const std::string whole = machine::peaks_text(example(), key);
  EXPECT_FALSE(machine::parse_peaks(whole, "another machine"));
  for (std::size_t length = 0; length + 1 < whole.size(); ++length)  // the last line may lack its end
    EXPECT_FALSE(machine::parse_peaks(whole.substr(0, length), key)) << length;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const char* rate : {"nan", "inf", "-1", "0", "1e300", "x"})
    EXPECT_FALSE(machine::parse_peaks(with("350000000000", rate), key)) << rate;
  EXPECT_FALSE(machine::parse_peaks(with(" 2 2026", " 0 2026"), key));
  EXPECT_FALSE(machine::parse_peaks(with("2026-11-16", "yesterday"), key));
  EXPECT_FALSE(machine::parse_peaks(with("2026-11-16", "2026-11-16 more"), key));
}

TEST(PeakCache, MeasuresOnceAndRemembers) {
  const tests::TemporaryFolder folder;
  int measured = 0;
  const PeakCache cache{key, folder / "isobar" / "peaks.txt", [&](int) {
                          ++measured;
                          return machine::Peaks{1e9 * measured, 2e9, 4};
                        }};
  const auto alone = comm::alone();
  EXPECT_EQ(machine::known_peaks(*alone, cache).peaks.flops_per_second, 1e9);
  EXPECT_EQ(machine::known_peaks(*alone, cache).peaks.flops_per_second, 1e9);
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(machine::known_peaks(*alone, cache, /*anew=*/true).peaks.flops_per_second, 2e9);
  EXPECT_EQ(machine::known_peaks(*alone, cache).peaks.flops_per_second, 2e9);
  std::ofstream(cache.file) << "damaged";
  EXPECT_EQ(machine::known_peaks(*alone, cache).peaks.flops_per_second, 3e9);
  EXPECT_EQ(machine::known_peaks(*alone, cache).peaks.threads, 4);
  EXPECT_EQ(measured, 3);
}

TEST(PeakCache, WhereNothingCanBeRememberedItIsMeasuredEachTime) {
  int measured = 0;
  const auto measure = [&](int) {
    ++measured;
    return machine::Peaks{1e9, 2e9, 1};
  };
  const tests::TemporaryFolder folder;
  std::ofstream(folder / "plain") << "x";
  const auto alone = comm::alone();
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(machine::known_peaks(*alone, {key, {}, measure}).peaks.flops_per_second, 1e9);
    EXPECT_EQ(machine::known_peaks(*alone, {key, folder / "plain" / "peaks.txt", measure}).peaks.threads, 1);
    EXPECT_EQ(measured, 2 * i);
  }
}

TEST(PeakCache, RanksMeasureTogetherAndAllKnowTheSum) {
  const tests::TemporaryFolder folder;
  std::atomic<int> measured = 0;
  for (int round = 0; round < 2; ++round) {
    comm::run_ranks(
        5,
        [&](comm::Comm& world) {
          const auto measure = [&](int sharers) {
            ++measured;
            EXPECT_EQ(sharers, world.rank() < 4 ? 2 : 1);  // the last node has one rank
            return machine::Peaks{1e9 * (world.rank() + 1), 1e9, 3};
          };
          // Only rank 0 knows key and file.
          const bool first = world.rank() == 0;
          const PeakCache cache{first ? key : "", first ? folder / "peaks.txt" : std::filesystem::path(), measure};
          const KnownPeaks known = machine::known_peaks(world, cache);
          EXPECT_EQ(known.peaks.flops_per_second, 15e9);
          EXPECT_EQ(known.peaks.bytes_per_second, 5e9);
          EXPECT_EQ(known.peaks.threads, 15);
        },
        /*per_node=*/2);
    EXPECT_EQ(measured, 5);
  }
}

TEST(PeakCache, KeyTellsProcessorRanksAndThreadsApart) {
  const auto alone = comm::alone();
  const PeakCache two = machine::peak_cache("processor", *alone, 2);
  EXPECT_NE(two.key, machine::peak_cache("processor", *alone, 1).key);
  EXPECT_NE(two.key, machine::peak_cache("other", *alone, 2).key);
  EXPECT_NE(machine::peak_cache("processor", *alone, 2, Instructions::v3).key,
            machine::peak_cache("processor", *alone, 2, Instructions::v4).key);
  EXPECT_EQ(machine::peak_cache("two\nlines", *alone, 2).key.find('\n'), std::string::npos);
  comm::run_ranks(2, [&](comm::Comm& world) { EXPECT_NE(two.key, machine::peak_cache("processor", world, 2).key); });
}

TEST(PeakCache, TheMeasurementGivesRates) {
  const auto alone = comm::alone();
  const machine::Peaks peaks = machine::peak_cache("processor", *alone, 1).measure(1);
  EXPECT_GT(peaks.flops_per_second, 0);
  EXPECT_GT(peaks.bytes_per_second, 0);
  EXPECT_GE(peaks.threads, 1);
}

}  // namespace
