// Files of an atmosphere: the layout of the climate data sets, kept and extended like other sets.
#include "isobar/writing/make_atmosphere.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::writing {
namespace {

using namespace isobar::tests;

namespace fs = std::filesystem;

AtmosphereFiles small(std::int64_t train, std::int64_t test, int threads = 2) {
  return {
      .weather = {.atmosphere = {.height = 24, .width = 36, .seed = 4, .run = 3}, .start = "2000-08-30", .hours = 6},
      .train = train,
      .test = test,
      .threads = threads};
}

std::vector<float> numbers(const fs::path& path, const char* name) {
  const hdf5::Hdf5File file = hdf5::Hdf5File::open(path);
  std::vector<float> values(static_cast<std::size_t>(file.shape(name).count()));
  file.read<float>(name, values);
  return values;
}

TEST(WriteAtmosphere, FilesHoldWhatTheDatasetMakes) {
  const TemporaryFolder folder;
  const FilesMade done = write_atmosphere(folder / "a", small(5, 2));
  EXPECT_EQ(done.written, 7);
  EXPECT_TRUE(done.complete);
  const std::string weather = "atmosphere(height=24, width=36, seed=4, run=3, hours=6, ";
  const auto made = datasets::make_dataset(weather + "count=5, start='2000-08-30')");
  const auto later = datasets::make_dataset(weather + "count=2, labels=1, start='2100-08-30')");
  const fs::path third = folder / "a/train/data-2000-08-30-04-3.h5";
  EXPECT_EQ(numbers(third, "climate/data"), read_sample(*made, 2)[0]);
  EXPECT_EQ(numbers(third, "climate/labels_0"), read_sample(*made, 2)[1]);
  EXPECT_EQ(numbers(folder / "a/validation/data-2100-08-30-02-3.h5", "climate/labels_1"), read_sample(*later, 1)[1]);
  EXPECT_TRUE(fs::exists(folder / "a/train/data-2000-08-31-00-3.h5"));
}

TEST(WriteAtmosphere, StatisticsAreThoseOfTheNumbers) {
  const TemporaryFolder folder;
  write_atmosphere(folder.path(), small(3, 1));
  double sum = 0, squares = 0, count = 0;
  float high = -1e30f, low = 1e30f;
  for (const auto& entry : fs::directory_iterator(folder / "train")) {
    const auto data = numbers(entry.path(), "climate/data"), stats = numbers(entry.path(), "climate/data_stats");
    double own = 0;
    for (std::size_t i = 7; i < data.size(); i += 16) {
      own += data[i], sum += data[i], squares += double{data[i]} * data[i], ++count;
      high = std::max(high, data[i]), low = std::min(low, data[i]);
    }
    EXPECT_NEAR(stats[7], own / (24 * 36), 0.5);
    const auto labels = numbers(entry.path(), "climate/labels_0"),
               parts = numbers(entry.path(), "climate/labels_0_stats");
    ASSERT_EQ(parts.size(), 7u);
    EXPECT_NEAR(parts[4], std::ranges::count(labels, 0.0f) / (24.0 * 36), 1e-6);
    EXPECT_NEAR(parts[4] + parts[5] + parts[6], 1, 1e-6);
  }
  const fs::path stats = folder / "stats.h5";
  EXPECT_EQ(numbers(stats, "climate/count")[0], count);
  EXPECT_NEAR(numbers(stats, "climate/mean")[7], sum / count, 1);
  EXPECT_NEAR(std::sqrt(numbers(stats, "climate/sqmean")[7]), std::sqrt(squares / count), 1);
  EXPECT_EQ(numbers(stats, "climate/minval")[7], low);
  EXPECT_EQ(numbers(stats, "climate/maxval")[7], high);
}

TEST(WriteAtmosphere, NetcdfHoldsTheSameAndIsKept) {
  const TemporaryFolder folder;
  AtmosphereFiles what = small(2, 1);
  what.format = WeatherFormat::netcdf;
  EXPECT_EQ(write_atmosphere(folder.path(), what).written, 3);
  EXPECT_EQ(write_atmosphere(folder.path(), what).kept, 3);
  const auto made = datasets::make_dataset(
      "atmosphere(height=24, width=36, seed=4, run=3, hours=6, count=2, start='2000-08-30', "
      "channels=[TMQ, PSL])");
  const auto read = datasets::make_dataset(Spec(
      "netcdf", {{"path", (folder / "train").string()}, {"x", std::vector<Value>{"TMQ", "PSL"}}, {"y", "LABELS"}}));
  ASSERT_EQ(read->size(), 2);
  for (const int i : {0, 1}) EXPECT_EQ(read_sample(*read, i), read_sample(*made, i));
  what.weather.atmosphere.seed = 9;
  EXPECT_THROW(write_atmosphere(folder.path(), what), Error);
}

TEST(WriteAtmosphere, KeepsWhatIsThereAndMendsWhatIsDamaged) {
  const TemporaryFolder folder;
  write_atmosphere(folder.path(), small(2, 1));
  std::ofstream(folder / "train/data-2000-08-30-00-3.h5") << "damaged";
  const FilesMade again = write_atmosphere(folder.path(), small(4, 1));
  EXPECT_EQ(again.kept, 2);
  EXPECT_EQ(again.written, 3);
  EXPECT_EQ(numbers(folder / "stats.h5", "climate/count")[0], 4 * 24 * 36);
}

TEST(WriteAtmosphere, RefusesOtherSettingsAndForeignFiles) {
  const TemporaryFolder folder;
  write_atmosphere(folder.path(), small(2, 0));
  AtmosphereFiles other = small(2, 0);
  other.weather.atmosphere.seed = 5;
  EXPECT_THROW(write_atmosphere(folder.path(), other), Error);
  EXPECT_THROW(write_atmosphere(folder.path(), small(1, 0)), Error);  // two files exist
  other = small(0, 0);
  EXPECT_THROW(write_atmosphere(folder.path(), other), UsageError);
  other = small(1, 0);
  other.weather.hours = 4;
  EXPECT_THROW(write_atmosphere(folder / "b", other), UsageError);
}

TEST(WriteAtmosphere, StopsBetweenFiles) {
  const TemporaryFolder folder;
  std::atomic<bool> stop = false;
  const auto done = write_atmosphere(
      folder.path(), small(6, 0, 1), [&](std::int64_t n, std::int64_t) { stop = n == 2; }, &stop);
  EXPECT_FALSE(done.complete);
  EXPECT_EQ(done.written, 2);
  EXPECT_FALSE(fs::exists(folder / "stats.h5"));
  EXPECT_EQ(write_atmosphere(folder.path(), small(6, 0)).kept, 2);
}

TEST(AtmosphereDataset, RefusesNonsense) {
  for (const char* spec : {"atmosphere(channels=[TMQ, NOSUCH])", "atmosphere(height=3)", "atmosphere(start=summer)",
                           "atmosphere(labels=2)", "atmosphere(hours=0)", "atmosphere(count=0)",
                           "atmosphere(run=-1, height=16, width=24)"})
    EXPECT_THROW(datasets::make_dataset(spec), UsageError) << spec;
}

TEST(AtmosphereDataset, ChannelsCanBeChosen) {
  const auto all = datasets::make_dataset("atmosphere(height=16, width=24, count=2)");
  const auto two = datasets::make_dataset("atmosphere(height=16, width=24, count=2, channels=[PSL, TMQ])");
  const auto a = read_sample(*all, 1), b = read_sample(*two, 1);
  for (std::size_t cell = 0; cell < 16 * 24; ++cell) {
    ASSERT_EQ(b[0][2 * cell], a[0][16 * cell + 7]);
    ASSERT_EQ(b[0][2 * cell + 1], a[0][16 * cell]);
  }
  EXPECT_EQ(all->classes().size(), 3u);
}

}  // namespace
}  // namespace isobar::writing
