#include <cmath>
#include <numeric>

#include "isobar/datasets/universe_cubes.hpp"
#include "isobar/worlds/cut.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

TEST(UniverseDataset, CubesMakeUpTheVolume) {
  const auto dataset = make_dataset("universe(size=8, mesh=16, count=16, first=5, log=false, seed=9)");
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{8, 8, 8, 4}));
  EXPECT_EQ(dataset->fields()[1].shape, (Shape{4}));
  const worlds::Universe family({.mesh = 16, .seed = 9, .threads = 1});
  std::vector<float> volume(static_cast<std::size_t>(family.count())), cube(8 * 8 * 8 * 4);
  for (std::int64_t i = 0; i < 16; ++i) {
    const std::int64_t universe = 5 + i / 8;
    family.make(universe, volume);
    worlds::cut(volume, 16, 4, 8, i % 8, cube);
    const auto sample = read_sample(*dataset, i);
    EXPECT_EQ(sample[0], cube);
    const auto targets = family.targets(universe);
    EXPECT_EQ(sample[1], std::vector<float>(targets.begin(), targets.end()));
  }
  EXPECT_HAS(dataset->where(11), "universe 6 cube 3");
}

TEST(UniverseDataset, LogOfCounts) {
  const auto raw = make_dataset("universe(size=8, mesh=8, count=2, redshifts=[0], log=false)");
  const auto log = make_dataset("universe(size=8, mesh=8, count=2, redshifts=[0])");
  const auto counts = read_sample(*raw, 1)[0], logarithms = read_sample(*log, 1)[0];
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), 512.0);  // one particle per cell on average
  for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_FLOAT_EQ(logarithms[i], std::log(counts[i] + 1.0f));
}

TEST(UniverseDataset, MergedCellsHoldTheParticlesOfTheMesh) {
  const auto fine = make_dataset("universe(size=16, mesh=16, count=1, log=false)");
  const auto merged = make_dataset("universe(size=8, mesh=16, merge=2, count=1, log=false)");
  const auto all = read_sample(*fine, 0), coarse = read_sample(*merged, 0);
  EXPECT_EQ(merged->fields()[0].shape, (Shape{8, 8, 8, 4}));
  EXPECT_EQ(all[1], coarse[1]);
  float first = 0;  // cell (0, 0, 0) at the first redshift
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 2; ++k) first += all[0][((i * 16 + j) * 16 + k) * 4];
  EXPECT_EQ(coarse[0][0], first);
  EXPECT_HAS(error_of([] { make_dataset("universe(mesh=16, merge=3, size=4)"); }), "merge = 3");
}

TEST(UniverseDataset, FirstShiftsTheUniverses) {
  const auto from_0 = make_dataset("universe(size=8, mesh=8, count=4)");
  const auto from_2 = make_dataset("universe(size=8, mesh=8, count=2, first=2)");
  EXPECT_EQ(read_sample(*from_0, 3), read_sample(*from_2, 1));
  EXPECT_NE(read_sample(*from_0, 0), read_sample(*from_2, 0));
}

TEST(UniverseDataset, RefusesWhatCannotBe) {
  EXPECT_HAS(error_of([] { make_dataset("universe(size=24, mesh=64)"); }), "must divide 64");
  EXPECT_HAS(error_of([] { make_dataset("universe(size=0)"); }), "size");
  EXPECT_HAS(error_of([] { make_dataset("universe(mesh=60, size=30)"); }), "mesh = 60");
  EXPECT_HAS(error_of([] { make_dataset("universe(mesh=4294967360, size=64)"); }), "mesh");
  EXPECT_HAS(error_of([] { make_dataset("universe(count=0)"); }), "count > 0");
  EXPECT_HAS(error_of([] { make_dataset("universe(first=-1)"); }), "first >= 0");
  worlds::UniverseOptions fractions{.mesh = 16, .counting = worlds::Counting::cloud};
  EXPECT_HAS(error_of([&] { UniverseCubes(fractions, 8); }), "whole numbers");
}

}  // namespace
}  // namespace isobar::datasets
