#include "isobar/datasets/hdf5_format.hpp"

#include "isobar/hdf5/hdf5_array.hpp"

#include "tests/datasets/written.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

Spec hdf5_format_spec(const std::filesystem::path& path, std::vector<std::pair<std::string, Value>> more = {}) {
  more.emplace_back("path", path.string());
  return Spec("hdf5", std::move(more));
}

TEST(Hdf5Format, WhatIsWrittenIsReadBack) {
  const TemporaryFolder folder;
  const Held samples = numbered_samples(Shape{5, 4, 3}, 7);
  int number = 0;
  for (const char* const format : {"hdf5", "hdf5(type=uint8, y_type=int64)", "hdf5(type=float16, gzip=4)",
                                   "hdf5(per_file=3)", "hdf5(per_file=1)", "hdf5(per_file=1, gzip=1, chunk=[2, 4, 3])",
                                   "hdf5(chunk=[5, 2, 1], type=int16)", "hdf5(type=float64, gzip=9)"}) {
    SCOPED_TRACE(format);
    const auto to = folder / fmt::format("set{}", number++);
    write_set(format, to, samples);
    expect_same(*open_any(to), samples);
    EXPECT_EQ(format_of(to), "hdf5");
  }
  const auto stored = [&](const char* set) {
    return hdf5::Hdf5Array(hdf5::Hdf5File::open(folder / set), "x").describe();
  };
  EXPECT_EQ(stored("set1"), "uint8");
  EXPECT_EQ(stored("set2"), "float16, chunks of [1, 5, 4, 3], shuffle, gzip");
  EXPECT_EQ(stored("set6"), "int16, chunks of [1, 5, 2, 1]");
}

TEST(Hdf5Format, LayoutsAreWrittenToo) {
  const TemporaryFolder folder;
  Held::Samples samples;
  for (int i = 0; i < 3; ++i) {
    samples.push_back({std::vector<float>(60), std::vector<float>(20)});
    for (std::size_t k = 0; k < 60; ++k) samples.back()[0][k] = static_cast<float>(100 * i) + static_cast<float>(k);
    for (std::size_t k = 0; k < 20; ++k) samples.back()[1][k] = static_cast<float>(k % 3);
  }
  const Held states({{"x", Shape{4, 5, 3}}, {"y", Shape{4, 5}}}, samples);
  write_set("hdf5(layout=climate)", folder / "climate", states);
  const hdf5::Hdf5File file = hdf5::Hdf5File::open(folder / "climate/00000000.h5");
  EXPECT_EQ(file.shape("climate/data"), (Shape{4, 5, 3}));
  EXPECT_EQ(file.shape("climate/labels_0"), (Shape{4, 5}));
  expect_same(*open_any(folder / "climate"), states);

  const Held images = numbered_samples(Shape{6, 5, 3}, 9);
  write_set("hdf5(layout=hep, gzip=3)", folder / "hep.h5", images);
  EXPECT_EQ(hdf5::Hdf5File::open(folder / "hep.h5").shape("data"), (Shape{9, 3, 6, 5}));
  expect_same(*open_any(folder / "hep.h5"), images);

  EXPECT_HAS(error_of([&] { write_set("hdf5(layout=climate_reformatted)", folder / "no", states); }), "several");
  EXPECT_HAS(error_of([&] { write_set("hdf5(layout=climate, per_file=2)", folder / "no", states); }), "one sample");
  EXPECT_HAS(error_of([&] { write_set("hdf5(chunk=[9, 1, 1])", folder / "no", states); }), "[4, 5, 3]");
  EXPECT_HAS(error_of([&] { write_set("hdf5(gzip=10)", folder / "no", states); }), "gzip from 0");
}

TEST(Hdf5Format, ClassesAndUnlabelledSamples) {
  const TemporaryFolder folder;
  const Held named({{"x", Shape{2}}, {"y", Shape{1}}}, {{{1, 2}, {0}}, {{3, 4}, {1}}}, {"cat", "dog"});
  write_set("hdf5", folder / "named.h5", named);
  EXPECT_EQ(open_any(folder / "named.h5")->classes(), (std::vector<std::string>{"cat", "dog"}));
  const Held bare = numbered_samples(Shape{2, 2}, 4, false);
  write_set("hdf5", folder / "bare.h5", bare);
  expect_same(*make_dataset(hdf5_format_spec(folder / "bare.h5", {{"y", ""}})), bare);
}

TEST(Hdf5Format, WhatDoesNotFitIsNamedAndNothingIsLeft) {
  const TemporaryFolder folder;
  const Held samples({{"x", Shape{2}}, {"y", Shape{1}}}, {{{1, 2}, {0}}, {{3, 40000}, {1}}});
  for (const char* const format : {"hdf5(type=int16)", "hdf5(type=int16, per_file=1)"}) {
    const std::string message = error_of([&] { write_set(format, folder / "a", samples); });
    EXPECT_HAS(message, "sample 1: 'x' cannot be stored as int16");
    EXPECT_HAS(message, "40000");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(Hdf5Format, LabelsFromElsewhere) {
  const TemporaryFolder folder;
  const Held samples = numbered_samples(Shape{3, 2}, 6);
  write_set("hdf5", folder / "all.h5", samples);
  const Held only = numbered_samples(Shape{3, 2}, 6, false);
  write_set("hdf5", folder / "x.h5", only);
  expect_same(*make_dataset(hdf5_format_spec(folder / "x.h5", {{"labels", (folder / "all.h5").string()}})), samples);
  for (const char* const kind : {"cat", "dog"}) {
    write_set("hdf5(per_file=1)", folder / kind, only);
    std::filesystem::create_directories(folder / "sorted");
    std::filesystem::rename(folder / kind, folder / "sorted" / kind);
  }
  const auto sorted = make_dataset(hdf5_format_spec(folder / "sorted", {{"labels", "folder"}}));
  ASSERT_EQ(sorted->size(), 12);
  EXPECT_EQ(sorted->classes(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(read_sample(*sorted, 5)[1][0], 0.0f);
  EXPECT_EQ(read_sample(*sorted, 6)[1][0], 1.0f);
  EXPECT_EQ(read_sample(*sorted, 6)[0], read_sample(only, 0)[0]);
  EXPECT_HAS(error_of([&] {
               make_dataset(hdf5_format_spec(folder / "x.h5", {{"labels", "folder"}}));
             }),
             "one sample per file");
}

TEST(Hdf5Format, NetcdfIsLeftToItsOwnReader) {
  Glance glance{.path = "a.h5", .inside = {"a.h5"}};
  const std::string_view plain = "\x89HDF\r\n\x1a\n and so on", netcdf = "\x89HDF\r\n\x1a\n _NCProperties";
  glance.head.assign(plain.begin(), plain.end());
  EXPECT_TRUE(recognises_hdf5(glance));
  glance.inside = {"a.nc"};
  EXPECT_FALSE(recognises_hdf5(glance));
  glance.inside = {"a.h5"};
  glance.head.assign(netcdf.begin(), netcdf.end());
  EXPECT_FALSE(recognises_hdf5(glance));
}

}  // namespace
}  // namespace isobar::datasets
