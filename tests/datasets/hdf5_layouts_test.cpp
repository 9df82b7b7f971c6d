#include "isobar/datasets/hdf5_layouts.hpp"

#include "isobar/datasets/format.hpp"
#include "isobar/datasets/hdf5_format.hpp"

#include "tests/datasets/samples.hpp"
#include "tests/hdf5/made_hdf5.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

Spec hdf5_layouts_spec(const std::filesystem::path& path, std::vector<std::pair<std::string, Value>> more = {}) {
  Spec made("hdf5", {{"path", path.string()}});
  for (auto& [key, value] : more) made.set(key, value);
  return made;
}

Value numbers(const std::vector<int>& list) {
  std::vector<Value> values(list.begin(), list.end());
  return values;
}

// Numbers base, base + 1, ... in an array.
void put_array(hid_t file, const std::string& name, const std::vector<hsize_t>& shape, double base,
               MadeArray how = {}) {
  how.name = name;
  how.shape = shape;
  std::size_t count = 1;
  for (const hsize_t n : shape) count *= n;
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(base + static_cast<double>(i));
  write_array(file, how, values);
}

std::vector<float> counting(int first, int count, int step = 1) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(first + i * step));
  return values;
}

// Two states of 4 x 6 points and 3 channels, as in climate files.
void write_climate(const TemporaryFolder& folder, bool reformatted) {
  for (const int i : {0, 1})
    write_hdf5(folder / fmt::format("data-2005-01-0{}-00-1.h5", i + 1), {}, [&](hid_t file) {
      const MadeArray packed{.chunk = {3, 2, 2}, .filters = "sg"};
      if (reformatted) {
        put_array(file, "climate/data", {3, 4, 6}, 1000 * i, packed);
        put_array(file, "climate/labels", {2, 4, 6}, 10000 * i);
        put_array(file, "climate/stats", {3, 4}, 0);
        put_array(file, "climate/labels_stats", {2, 3}, 0);
      } else {
        put_array(file, "climate/data", {4, 6, 3}, 1000 * i, packed);
        put_array(file, "climate/data_stats", {4, 3}, 0);
        put_array(file, "climate/labels_0", {4, 6}, 10000 * i);
        put_array(file, "climate/labels_1", {4, 6}, 10000 * i + 500);
        put_array(file, "climate/labels_0_stats", {7, 1}, 0);
      }
    });
}

TEST(Hdf5Layouts, ClimateOriginal) {
  const TemporaryFolder folder;
  write_climate(folder, false);
  for (const Spec& how :
       {hdf5_layouts_spec(folder.path()), hdf5_layouts_spec(folder.path(), {{"layout", "climate"}}),
        hdf5_layouts_spec(folder.path(), {{"layout", "deepcam"}}), hdf5_layouts_spec(folder / "data-*-1.h5"),
        hdf5_layouts_spec(folder.path(), {{"x", "climate/data"}, {"y", "climate/labels_0"}})}) {
    SCOPED_TRACE(how.str());
    const auto set = make_dataset(how);
    ASSERT_EQ(set->size(), 2);
    EXPECT_EQ(set->fields()[0].shape, (Shape{4, 6, 3}));
    EXPECT_EQ(set->fields()[1].shape, (Shape{4, 6}));
    EXPECT_EQ(read_sample(*set, 1)[0], counting(1000, 72));
    EXPECT_EQ(read_sample(*set, 1)[1], counting(10000, 24));
  }
  const auto relaxed = make_dataset(hdf5_layouts_spec(folder.path(), {{"plane", 1}}));
  EXPECT_EQ(read_sample(*relaxed, 1)[1], counting(10500, 24));
  const auto alone = make_dataset(hdf5_layouts_spec(folder / "data-2005-01-02-00-1.h5"));  // a file of one sample
  ASSERT_EQ(alone->size(), 1);
  EXPECT_EQ(read_sample(*alone, 0)[0], counting(1000, 72));
  const auto unlabelled = make_dataset(hdf5_layouts_spec(folder.path(), {{"y", ""}}));
  ASSERT_EQ(unlabelled->fields().size(), 1u);
  EXPECT_EQ(read_sample(*unlabelled, 0)[0], counting(0, 72));
}

TEST(Hdf5Layouts, ClimateReformattedIsTurnedToChannelsLast) {
  const TemporaryFolder folder;
  write_climate(folder, true);
  for (const Spec& how :
       {hdf5_layouts_spec(folder.path()), hdf5_layouts_spec(folder.path(), {{"layout", "climate_reformatted"}})}) {
    const auto set = make_dataset(how);
    ASSERT_EQ(set->size(), 2);
    EXPECT_EQ(set->fields()[0].shape, (Shape{4, 6, 3}));
    EXPECT_EQ(set->fields()[1].shape, (Shape{4, 6}));
    const auto sample = read_sample(*set, 1);
    for (std::size_t p = 0; p < 24; ++p)
      for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(sample[0][3 * p + c], static_cast<float>(1000 + 24 * c + p));
    EXPECT_EQ(sample[1], counting(10000, 24));
  }
  EXPECT_EQ(read_sample(*make_dataset(hdf5_layouts_spec(folder.path(), {{"plane", 1}})), 0)[1], counting(24, 24));
  EXPECT_HAS(error_of([&] {
               make_dataset(hdf5_layouts_spec(folder.path(), {{"plane", 2}}));
             }),
             "has shape 2x4x6: there are no labels 2");
}

TEST(Hdf5Layouts, ChannelsAreChosenInAnyOrder) {
  for (const bool reformatted : {false, true}) {
    const TemporaryFolder folder;
    write_climate(folder, reformatted);
    for (const std::vector<int>& channels : {std::vector<int>{1}, {0, 1}, {2, 0}, {2, 1, 0}, {1, 2}}) {
      SCOPED_TRACE(fmt::format("{} {}", reformatted, fmt::join(channels, ",")));
      const auto set = make_dataset(hdf5_layouts_spec(folder.path(), {{"channels", numbers(channels)}}));
      const auto all = read_sample(*make_dataset(hdf5_layouts_spec(folder.path())), 1)[0];
      const auto some = read_sample(*set, 1)[0];
      ASSERT_EQ(set->fields()[0].shape, (Shape{4, 6, static_cast<std::int64_t>(channels.size())}));
      for (std::size_t p = 0; p < 24; ++p)
        for (std::size_t c = 0; c < channels.size(); ++c)
          EXPECT_EQ(some[p * channels.size() + c], all[3 * p + static_cast<std::size_t>(channels[c])]);
    }
    EXPECT_HAS(error_of([&] {
                 make_dataset(hdf5_layouts_spec(folder.path(), {{"channels", numbers({3})}}));
               }),
               "'climate/data' has no channel 3; there are 0, 1, 2");
  }
}

// Copies without some channels list the channels they have.
TEST(Hdf5Layouts, ChannelsByTheirOldNumbers) {
  const TemporaryFolder folder;
  write_hdf5(folder / "a.h5", {}, [&](hid_t file) {
    put_array(file, "climate/data", {4, 6, 3}, 0);
    put_array(file, "climate/labels_0", {4, 6}, 0);
    put_array(file, "climate/channels", {3}, 9, {.type = H5T_STD_I32LE});  // 9, 10, 11
  });
  const auto set = make_dataset(hdf5_layouts_spec(folder / "a.h5", {{"channels", numbers({10})}}));
  EXPECT_EQ(read_sample(*set, 0)[0], counting(1, 24, 3));
  EXPECT_HAS(error_of([&] {
               make_dataset(hdf5_layouts_spec(folder / "a.h5", {{"channels", numbers({0})}}));
             }),
             "there are 9, 10, 11");
}

TEST(Hdf5Layouts, Cosmoflow) {
  const TemporaryFolder folder;
  for (const int i : {0, 1})
    write_hdf5(folder / fmt::format("{}.hdf5", i), {}, [&](hid_t file) {
      put_array(file, "x", {8, 8, 8, 4}, i, {.type = H5T_STD_I16LE});
      put_array(file, "y", {4}, i);
    });
  const auto set = make_dataset(hdf5_layouts_spec(folder.path()));
  ASSERT_EQ(set->size(), 2);
  EXPECT_EQ(set->fields()[0].shape, (Shape{8, 8, 8, 4}));
  EXPECT_EQ(read_sample(*set, 1)[0], counting(1, 2048));
  EXPECT_EQ(make_dataset(hdf5_layouts_spec(folder / "1.hdf5"))->size(), 1);
  EXPECT_EQ(make_dataset(hdf5_layouts_spec(folder.path(), {{"layout", "cosmoflow"}}))->size(), 2);
}

TEST(Hdf5Layouts, Hep) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, hsize_t n, double base) {
    write_hdf5(folder / name, {}, [&](hid_t file) {
      put_array(file, "data", {n, 3, 4, 4}, base, {.chunk = {2, 1, 4, 4}, .filters = "g"});
      put_array(file, "label", {n}, base);
      put_array(file, "normweight", {n}, 0);
      put_array(file, "weight", {n}, 100);
    });
  };
  write("a.h5", 5, 0);
  write("b.h5", 3, 1000);
  for (const Spec& how : {hdf5_layouts_spec(folder.path()), hdf5_layouts_spec(folder.path(), {{"layout", "hep"}}),
                          hdf5_layouts_spec(folder / "?.h5")}) {
    const auto set = make_dataset(how);
    ASSERT_EQ(set->size(), 8);
    EXPECT_EQ(set->fields()[0].shape, (Shape{4, 4, 3}));
    EXPECT_EQ(set->fields()[1].shape, Shape{1});
    const auto sample = read_sample(*set, 6);  // the second of the second file
    EXPECT_EQ(sample[1], (std::vector<float>{1001}));
    for (std::size_t p = 0; p < 16; ++p)
      for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(sample[0][3 * p + c], static_cast<float>(1000 + 48 + 16 * c + p));
    EXPECT_HAS(set->where(6), "b.h5 sample 1");
    const auto spans = set->spans();
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_EQ(spans[1].first, 5);
    EXPECT_EQ(spans[1].count, 3);
  }
  EXPECT_EQ(read_sample(*make_dataset(hdf5_layouts_spec(folder / "a.h5", {{"y", "weight"}})), 2)[1][0], 102.0f);
  EXPECT_EQ(make_dataset(hdf5_layouts_spec(folder.path(), {{"samples", 6}}))->spans()[1].count, 1);
}

TEST(Hdf5Layouts, ExtremeWeather) {
  const TemporaryFolder folder;
  write_hdf5(folder / "climo_2005.h5", {}, [&](hid_t file) {
    put_array(file, "images", {4, 16, 6, 8}, 0);
    put_array(file, "boxes", {4, 15, 5}, 0);
  });
  const auto set = make_dataset(hdf5_layouts_spec(folder / "climo_2005.h5"));
  ASSERT_EQ(set->size(), 4);
  EXPECT_EQ(set->fields()[0].shape, (Shape{6, 8, 16}));
  EXPECT_EQ(set->fields()[1].shape, (Shape{15, 5}));
  const auto sample = read_sample(*set, 3);
  EXPECT_EQ(sample[0][17], static_cast<float>(3 * 768 + 48 + 1));
  EXPECT_EQ(sample[1], counting(225, 75));
}

TEST(Hdf5Layouts, UnknownNamesAreAnswered) {
  EXPECT_HAS(error_of([] { make_dataset("hdf5(path=absent, layout=climat)"); }), "did you mean 'climate'");
}

TEST(Hdf5Layouts, InspectFindsThem) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  write_climate(folder, false);
  const Contents contents = look_into(glance_at(folder.path()));
  EXPECT_EQ(
      contents.summary,
      "HDF5, 2 files: climate segmentation, original and climate-seg-benchmark: one state per file; in the first, "
      "data-2005-01-01-00-1.h5");
  ASSERT_EQ(contents.parts.size(), 5u);
  EXPECT_EQ(contents.parts[0].name, "climate/data");
  EXPECT_EQ(contents.parts[0].shape, "[4, 6, 3]");
  EXPECT_EQ(contents.parts[0].type, "float32, chunks of [3, 2, 2], shuffle, gzip");
  ASSERT_EQ(contents.readers.size(), 1u);
  EXPECT_EQ(make_dataset(contents.readers[0])->size(), 2);

  write_hdf5(folder / "sub/other.h5", {.user_block = 512}, [&](hid_t file) {
    put_array(file, "pictures", {5, 4, 4}, 0);
    put_array(file, "kinds", {5}, 0);
    put_array(file, "scale", {}, 0);
  });
  const Contents other = look_into(glance_at(folder / "sub/other.h5"));
  ASSERT_EQ(other.readers.size(), 1u);
  EXPECT_HAS(other.readers[0].str(), "x='pictures', y='kinds'");
  EXPECT_EQ(read_sample(*make_dataset(other.readers[0]), 2)[1][0], 2.0f);
  EXPECT_EQ(other.parts[2].shape, "a single number");
}

}  // namespace
}  // namespace isobar::datasets
