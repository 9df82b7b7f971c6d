#include "isobar/writing/make_universe.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::writing {
namespace {

using namespace isobar::tests;

namespace fs = std::filesystem;

UniverseFiles make_universe_small(std::int64_t train, std::int64_t test, int threads = 2) {
  return {.family = {.mesh = 16, .redshifts = {0, 1}, .seed = 4},
          .size = 8,
          .train = train,
          .test = test,
          .threads = threads};
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> list;
  for (const auto& entry : fs::directory_iterator(folder)) list.push_back(entry.path());
  std::ranges::sort(list);
  return list;
}

std::vector<std::vector<std::vector<float>>> all_samples(const fs::path& folder) {
  const auto dataset = datasets::make_dataset(Spec("hdf5", {{"path", folder.string()}, {"log", true}}));
  std::vector<std::vector<std::vector<float>>> list;
  for (std::int64_t i = 0; i < dataset->size(); ++i) list.push_back(read_sample(*dataset, i));
  return list;
}

TEST(WriteUniverse, FilesHoldWhatTheDatasetMakes) {
  const TemporaryFolder folder;
  const FilesMade done = write_universe(folder / "u", make_universe_small(12, 3));
  EXPECT_EQ(done.written, 15);
  EXPECT_TRUE(done.complete);
  const auto train = all_samples(folder / "u/train"), test = all_samples(folder / "u/test");
  const auto made = datasets::make_dataset("universe(size=8, mesh=16, redshifts=[0, 1], seed=4, count=12)");
  const auto held_out =
      datasets::make_dataset("universe(size=8, mesh=16, redshifts=[0, 1], seed=4, count=3, first=1000000000)");
  ASSERT_EQ(train.size(), 12u);
  ASSERT_EQ(test.size(), 3u);
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(train[static_cast<std::size_t>(i)], read_sample(*made, i));
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(test[static_cast<std::size_t>(i)], read_sample(*held_out, i));
}

TEST(WriteUniverse, LayoutAttributesAndDisjointUniverses) {
  const TemporaryFolder folder;
  write_universe(folder.path(), make_universe_small(9, 9));
  std::set<std::int64_t> universes[2];
  for (const int part : {0, 1}) {
    for (const fs::path& path : files_in(folder / (part ? "test" : "train"))) {
      const hdf5::Hdf5File file = hdf5::Hdf5File::open(path);
      EXPECT_EQ(file.shape("x"), (Shape{8, 8, 8, 2}));
      EXPECT_EQ(file.stored("x").bytes, 2);
      EXPECT_EQ(file.shape("y"), (Shape{4}));
      std::vector<float> y(4);
      file.read<float>("y", y);
      EXPECT_NEAR(file.real("/", "omega_m"), 0.3 * (1 + 0.1 * y[0]), 1e-6);
      EXPECT_NEAR(file.real("/", "sigma_8"), 0.8 * (1 + 0.1 * y[1]), 1e-6);
      EXPECT_NEAR(file.real("/", "n_s"), 0.96 * (1 + 0.1 * y[2]), 1e-6);
      EXPECT_NEAR(file.real("/", "h0"), 70 * (1 + 0.1 * y[3]), 1e-4);
      universes[part].insert(file.integer("/", "universe"));
    }
    EXPECT_EQ(universes[part].size(), 2u);
  }
  for (const std::int64_t universe : universes[0]) EXPECT_FALSE(universes[1].contains(universe));
}

TEST(WriteUniverse, ThreadsDecideNothing) {
  const TemporaryFolder folder;
  write_universe(folder / "one", make_universe_small(20, 4, 1));
  write_universe(folder / "four", make_universe_small(20, 4, 4));
  EXPECT_EQ(all_samples(folder / "one/train"), all_samples(folder / "four/train"));
  EXPECT_EQ(all_samples(folder / "one/test"), all_samples(folder / "four/test"));
}

TEST(WriteUniverse, GoesOnAfterAStop) {
  const TemporaryFolder folder;
  std::atomic<bool> stop = false;
  std::int64_t last = -1;
  const auto progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 24);
    EXPECT_EQ(done, last + 1);
    last = done;
    if (done == 5) stop = true;
  };
  const FilesMade first = write_universe(folder.path(), make_universe_small(20, 4, 1), progress, &stop);
  EXPECT_FALSE(first.complete);
  EXPECT_EQ(first.written, 5);
  const std::vector<fs::path> some = files_in(folder / "train");
  EXPECT_EQ(some.size(), 5u);

  fs::resize_file(some[2], 700);  // damaged: to be made again
  const FilesMade second = write_universe(folder.path(), make_universe_small(20, 4));
  EXPECT_TRUE(second.complete);
  EXPECT_EQ(second.kept, 4);
  EXPECT_EQ(second.written, 20);
  const TemporaryFolder fresh;
  write_universe(fresh.path(), make_universe_small(20, 4));
  EXPECT_EQ(all_samples(folder / "train"), all_samples(fresh / "train"));

  const FilesMade more =
      write_universe(folder.path(), make_universe_small(28, 4));  // a larger set keeps the smaller one
  EXPECT_EQ(more.kept, 24);
  EXPECT_EQ(more.written, 8);
}

TEST(WriteUniverse, OtherSettingsAreNamedAndNothingIsWritten) {
  const TemporaryFolder folder;
  write_universe(folder.path(), make_universe_small(2, 0));
  UniverseFiles other = make_universe_small(4, 2);
  other.family.seed = 5;
  other.family.cell = 2.5;
  const std::string message = error_of([&] { write_universe(folder.path(), other); });
  EXPECT_HAS(message, "seed is 4 there, 5 was requested");
  EXPECT_HAS(message, "cell is 4.0 there, 2.5 was requested");
  EXPECT_FALSE(contains(message, "mesh is"));
  EXPECT_EQ(files_in(folder / "train").size(), 2u);
  EXPECT_FALSE(fs::exists(folder / "test"));

  EXPECT_HAS(error_of([&] { write_universe(folder.path(), make_universe_small(1, 0)); }), "not among the 1 samples");
}

TEST(WriteUniverse, BadRequestsAreErrors) {
  const TemporaryFolder folder;
  EXPECT_HAS(error_of([&] { write_universe(folder.path(), make_universe_small(0, 0)); }), "at least one sample");
  EXPECT_HAS(error_of([&] { write_universe(folder.path(), make_universe_small(-1, 5)); }), "-1 training");
  std::ofstream(folder / "file") << "in the way";
  EXPECT_HAS(error_of([&] { write_universe(folder / "file", make_universe_small(1, 1)); }),
             "the folder cannot be made");
  EXPECT_TRUE(fs::is_regular_file(folder / "file"));

  write_universe(folder.path(), make_universe_small(1, 0));
  const fs::path only = files_in(folder / "train")[0];
  hdf5::Hdf5File foreign = hdf5::Hdf5File::create(only);
  foreign.commit(false);
  EXPECT_HAS(error_of([&] { write_universe(folder.path(), make_universe_small(1, 0)); }), "is in the way");
}

}  // namespace
}  // namespace isobar::writing
