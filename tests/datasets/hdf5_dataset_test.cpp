#include <cmath>
#include <fstream>

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

Spec spec(const std::filesystem::path& path, std::vector<std::pair<std::string, Value>> more = {}) {
  Spec made("hdf5", {{"path", path.string()}});
  for (auto& [key, value] : more) made.set(key, value);
  return made;
}

// One sample file with x = base, base + 1, ...
template <class T>
void write_sample(const std::filesystem::path& path, const Shape& shape, T base, const Shape& targets = Shape{2}) {
  std::vector<T> x;
  for (std::int64_t i = 0; i < shape.count(); ++i) x.push_back(static_cast<T>(base + static_cast<T>(i)));
  hdf5::Hdf5File file = hdf5::Hdf5File::create(path);
  file.write<T>("x", shape, x);
  file.write<float>("y", targets, std::vector<float>(static_cast<std::size_t>(targets.count()), 0.5f));
  file.commit(false);
}

TEST(Hdf5Dataset, FolderIsReadInTheOrderOfNames) {
  const TemporaryFolder folder;
  write_sample<std::int16_t>(folder / "b.hdf5", Shape{2, 2}, 10);
  write_sample<std::int16_t>(folder / "a.h5", Shape{2, 2}, 0);
  write_sample<float>(folder / "c.h5", Shape{2, 2}, 0.5f);  // stored differently, read the same way
  std::ofstream(folder / "notes.txt") << "no sample";
  const auto dataset = make_dataset(spec(folder.path()));
  ASSERT_EQ(dataset->size(), 3);
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{2, 2}));
  EXPECT_EQ(dataset->fields()[1].shape, (Shape{2}));
  EXPECT_EQ(read_sample(*dataset, 0)[0], (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(read_sample(*dataset, 1)[0], (std::vector<float>{10, 11, 12, 13}));
  EXPECT_EQ(read_sample(*dataset, 2)[0], (std::vector<float>{0.5, 1.5, 2.5, 3.5}));
  EXPECT_EQ(read_sample(*dataset, 2)[1], (std::vector<float>{0.5, 0.5}));
  EXPECT_HAS(dataset->where(1), "b.hdf5");
}

TEST(Hdf5Dataset, LogIsTheSameForEveryStoredType) {
  const TemporaryFolder folder;
  write_sample<std::int16_t>(folder / "a.h5", Shape{50}, 0);
  write_sample<float>(folder / "b.h5", Shape{50}, 0);
  write_sample<std::int32_t>(folder / "c.h5", Shape{50}, 0);
  write_sample<std::uint8_t>(folder / "d.h5", Shape{50}, 0);
  const auto dataset = make_dataset(spec(folder.path(), {{"log", true}}));
  const std::vector<float> first = read_sample(*dataset, 0)[0];
  for (std::size_t i = 0; i < 50; ++i) EXPECT_FLOAT_EQ(first[i], std::log(static_cast<float>(i) + 1.0f));
  for (std::int64_t other = 1; other < 4; ++other) EXPECT_EQ(read_sample(*dataset, other)[0], first);
}

TEST(Hdf5Dataset, FileHasASampleAxisAndOtherNames) {
  const TemporaryFolder folder;
  hdf5::Hdf5File file = hdf5::Hdf5File::create(folder / "all.h5");
  file.write<float>("images/data", Shape{3, 2}, std::vector<float>{0, 1, 2, 3, 4, 5});
  file.write<std::int64_t>("label", Shape{3}, std::vector<std::int64_t>{7, 8, 9});
  file.commit(false);
  const auto dataset = make_dataset(spec(folder / "all.h5", {{"x", "images/data"}, {"y", "label"}, {"samples", 2}}));
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_EQ(dataset->fields()[0].shape, (Shape{2}));
  EXPECT_EQ(dataset->fields()[1].shape, (Shape{1}));
  EXPECT_EQ(read_sample(*dataset, 1), (std::vector<std::vector<float>>{{2, 3}, {8}}));
  EXPECT_HAS(dataset->where(1), "all.h5 sample 1");
}

TEST(Hdf5Dataset, MissingThingsAreNamed) {
  const TemporaryFolder folder;
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder / "absent")); }), "absent: there is no such file or folder");
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder.path())); }), "the folder holds no files");
  write_sample<float>(folder / "a.h5", Shape{2, 2}, 0);
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder.path(), {{"x", "image"}})); }), "no array 'image'");
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder / "a.h5", {{"y", "label"}})); }), "no array 'label'");
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder.path(), {{"samples", 5}})); }), "5 samples were requested");
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder.path(), {{"samples", -1}})); }), "samples >= 0");
}

TEST(Hdf5Dataset, WrongRanksAndSizes) {
  const TemporaryFolder folder;
  write_sample<float>(folder / "flat.h5", Shape{6}, 0, Shape{6});
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder / "flat.h5")); }), "'x' has shape 6; a file of samples needs");
  write_sample<float>(folder / "uneven.h5", Shape{6, 2}, 0, Shape{5, 4});
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder / "uneven.h5")); }), "'y' has shape 5x4, but 'x' has 6 samples");
  write_sample<float>(folder / "none.h5", Shape{0, 2}, 0, Shape{0, 4});
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder / "none.h5")); }), "there are no samples");
  std::filesystem::create_directory(folder / "single");
  write_sample<float>(folder / "single/a.h5", Shape{}, 0);
  EXPECT_HAS(error_of([&] { make_dataset(spec(folder / "single")); }), "is a single number");
}

TEST(Hdf5Dataset, AnOddFileIsNamedWhenItIsRead) {
  const TemporaryFolder folder;
  write_sample<float>(folder / "a.h5", Shape{4, 4}, 0);
  write_sample<float>(folder / "b.h5", Shape{4, 2}, 0);
  write_sample<float>(folder / "c.h5", Shape{4, 4}, 0);
  write_sample<float>(folder / "d.h5", Shape{4, 4}, 0, Shape{3});
  std::filesystem::resize_file(folder / "c.h5", 600);
  const auto dataset = make_dataset(spec(folder.path()));
  std::string message = error_of([&] { read_sample(*dataset, 1); });
  EXPECT_HAS(message, "b.h5: 'x' has shape 4x2, but 4x4 in the first file, a.h5");
  message = error_of([&] { read_sample(*dataset, 2); });
  EXPECT_HAS(message, "c.h5: cannot open as an HDF5 file: truncated");
  message = error_of([&] { read_sample(*dataset, 3); });
  EXPECT_HAS(message, "d.h5: 'y' has shape 3, but 2");
  EXPECT_EQ(read_sample(*dataset, 0)[0][5], 5.0f);
}

TEST(Hdf5Dataset, TruncatedFirstFileIsAnError) {
  const TemporaryFolder folder;
  write_sample<float>(folder / "a.h5", Shape{4, 400}, 0);
  std::filesystem::resize_file(folder / "a.h5", 600);
  for (const std::filesystem::path& path : {folder.path(), folder / "a.h5"})
    EXPECT_HAS(error_of([&] { make_dataset(spec(path)); }), "a.h5: cannot open as an HDF5 file: truncated");
}

}  // namespace
}  // namespace isobar::datasets
