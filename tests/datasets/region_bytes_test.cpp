// What reading a region costs: the bytes of HDF5 and NetCDF files that are really read, counted where the system
// returns them.
#include <thread>

#include "isobar/datasets/region_dataset.hpp"
#include "isobar/files/read_count.hpp"
#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/datasets/samples.hpp"
#include "tests/datasets/written.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

// A file of four samples x of `shape`, stored as `making` says, and y of two numbers each.
std::string region_bytes_file(const TemporaryFolder& folder, const Shape& shape, const hdf5::Hdf5Making& making) {
  const std::filesystem::path path = folder / "volumes.h5";
  std::vector<std::int64_t> extents = shape.extents();
  extents.insert(extents.begin(), 4);
  const std::size_t row = static_cast<std::size_t>(shape.count()) * static_cast<std::size_t>(width_of(making.type));
  std::vector<std::uint8_t> bytes(4 * row);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * i % 61);
  hdf5::Hdf5File file = hdf5::Hdf5File::create(path);
  file.make_array("x", Shape(extents), making);
  file.write_rows("x", 0, bytes);
  const std::vector<float> y{0, 1, 2, 3, 4, 5, 6, 7};
  file.write<float>("y", Shape{4, 2}, y);
  file.commit(false);
  return path.string();
}

// The bytes read for one sample, and the region that is read.
std::int64_t bytes_of_sample(const Dataset& dataset, std::int64_t index) {
  const std::int64_t before = files::bytes_read_here();
  read_sample(dataset, index);
  return files::bytes_read_here() - before;
}

// Part `part` of `parts` along an axis, with a halo where it has neighbours.
Box region_bytes_slab(const Shape& shape, int axis, int part, int parts, std::int64_t halo) {
  const std::int64_t first = shape[axis] * part / parts, last = shape[axis] * (part + 1) / parts;
  const std::int64_t from = std::max<std::int64_t>(0, first - halo), to = std::min(shape[axis], last + halo);
  return Box::whole(shape).with(axis, from, to - from);
}

TEST(RegionBytes, OfContiguousArraysAreThoseOfTheSamplesAndTheHalos) {
  // Rows of 3072 numbers: parts of any axis but the last lie far apart or next to each other.
  const Shape shape{12, 10, 64, 48};
  const TemporaryFolder folder;
  const std::string path = region_bytes_file(folder, shape, {.type = files::NumberType::int16});
  for (const bool together : {false, true})
    for (const int axis : {0, 1})
      for (int parts = 1; parts <= 5; ++parts) {
        SCOPED_TRACE(fmt::format("{} parts along axis {}", parts, axis));
        const std::shared_ptr<const Dataset> whole = make_dataset(Spec("hdf5", {{"path", path}}));
        constexpr std::int64_t halo = 1, targets = 2 * sizeof(float);
        const std::int64_t row = shape.count() / shape[axis] * 2;
        std::vector<std::int64_t> read(static_cast<std::size_t>(parts));
        const auto read_part = [&](int part) {
          const Region region{region_bytes_slab(shape, axis, part, parts, halo), Box::whole(Shape{2})};
          const auto view = region_of(whole, region);
          for (std::int64_t sample = 0; sample < 4; ++sample)
            read[static_cast<std::size_t>(part)] += bytes_of_sample(*view, sample);
        };
        if (together) {
          std::vector<std::jthread> ranks;
          for (int part = 0; part < parts; ++part) ranks.emplace_back([&, part] { read_part(part); });
        } else {
          for (int part = 0; part < parts; ++part) read_part(part);
        }
        std::int64_t all = 0;
        for (const std::int64_t bytes : read) all += bytes;
        EXPECT_EQ(all, 4 * (shape[axis] * row + 2 * (parts - 1) * halo * row + parts * targets));
      }
}

TEST(RegionBytes, GapsThatAreReadTooAreShort) {
  const Shape shape{6, 8, 32, 4};
  const TemporaryFolder folder;
  const std::string path = region_bytes_file(folder, shape, {.type = files::NumberType::float32});
  const std::shared_ptr<const Dataset> whole = make_dataset(Spec("hdf5", {{"path", path}}));
  // A row has 512 bytes: half rows are read with the gaps of 256 bytes between them, and in one piece.
  const Box part = Box::whole(shape).with(2, 0, 16);
  const std::int64_t all = shape.count() * 4;
  EXPECT_EQ(bytes_of_sample(*region_of(whole, {part, Box::whole(Shape{2})}), 1), all - 256 + 8);
  // Of few planes only the rows in between are read.
  EXPECT_EQ(bytes_of_sample(*region_of(whole, {part.with(0, 2, 1), Box::whole(Shape{2})}), 1), all / 6 - 256 + 8);
}

TEST(RegionBytes, OfChunkedArraysAreThoseOfTheChunksTouched) {
  const Shape shape{12, 10, 8, 4};
  const Shape chunk{1, 4, 5, 8, 4};
  const std::int64_t chunk_numbers = chunk.count();
  for (const int gzip : {0, 6}) {
    const TemporaryFolder folder;
    const std::string path =
        region_bytes_file(folder, shape, {.type = files::NumberType::int16, .chunk = chunk, .gzip = gzip});
    const auto fresh = [&] { return std::shared_ptr<const Dataset>(make_dataset(Spec("hdf5", {{"path", path}}))); };
    // 3 x 2 chunks for a sample. What each takes in the file: read through a region that is exactly the chunk.
    std::vector<std::int64_t> stored;
    for (std::int64_t a = 0; a < 3; ++a)
      for (std::int64_t b = 0; b < 2; ++b) {
        const Box box = Box::whole(shape).with(0, 4 * a, 4).with(1, 5 * b, 5);
        stored.push_back(bytes_of_sample(*region_of(fresh(), {box, Box::whole(Shape{2})}), 2) - 8);
        if (gzip == 0) EXPECT_EQ(stored.back(), chunk_numbers * 2);
        else EXPECT_LT(stored.back(), chunk_numbers * 2);
      }
    for (const auto& [begin, extent] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 4}, {3, 1}, {3, 2}, {4, 8}, {2, 9}}) {
      const Box box = Box::whole(shape).with(0, begin, extent);
      std::int64_t wanted = 8;
      for (std::int64_t a = begin / 4; a <= (begin + extent - 1) / 4; ++a)
        for (std::int64_t b = 0; b < 2; ++b)
          wanted += gzip == 0 ? chunk_numbers * 2 / 4 * (std::min(begin + extent, 4 * a + 4) - std::max(begin, 4 * a))
                              : stored[static_cast<std::size_t>(2 * a + b)];
      EXPECT_EQ(bytes_of_sample(*region_of(fresh(), {box, Box::whole(Shape{2})}), 2), wanted) << box.str();
    }
  }
}

TEST(RegionBytes, OfNetcdfFilesAreThoseOfTheRows) {
  const TemporaryFolder folder;
  write_set("netcdf(kind=classic)", folder / "rows.nc", numbered_samples(Shape{8, 40, 2}, 5, false));
  const std::shared_ptr<const Dataset> whole = make_dataset(Spec("netcdf", {{"path", (folder / "rows.nc").string()}}));
  read_sample(*whole, 3);  // opens the file
  EXPECT_EQ(bytes_of_sample(*whole, 3), 8 * 40 * 2 * 4);
  EXPECT_EQ(bytes_of_sample(*region_of(whole, {Box::whole(Shape{8, 40, 2}).with(0, 3, 2)}), 3), 2 * 40 * 2 * 4);
  EXPECT_EQ(bytes_of_sample(*region_of(whole, {Box::whole(Shape{8, 40, 2}).with(2, 1, 1)}), 3), 8 * 40 * 4);
}

}  // namespace
}  // namespace isobar::datasets
