#include <cmath>
#include <fstream>

#include "isobar/datasets/netcdf_format.hpp"
#include "isobar/datasets/netcdf_series.hpp"

#include "tests/datasets/written.hpp"
#include "tests/files/public_data.hpp"
#include "tests/hdf5/made_climate.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

Spec netcdf_dataset_spec(const std::filesystem::path& path, std::vector<std::pair<std::string, Value>> more = {}) {
  more.emplace_back("path", path.string());
  return Spec("netcdf", std::move(more));
}

Value list(std::initializer_list<const char*> words) { return std::vector<Value>(words.begin(), words.end()); }

struct Made {
  std::vector<const char*> variables{"T", "U"};  // over time, lat, lon
  std::vector<double> days{0, 1, 2};
  const char* units = "days since 2005-01-01";
  const char* calendar = "standard";
  double base = 0;
  bool levels = false;  // a variable W over time, plev, lat, lon as well
  int mode = NC_NETCDF4;
};

// Number k of step t of variable v is base + 1000 v + 100 t + k; three latitudes, two longitudes.
void make_days(const std::filesystem::path& path, const Made& made) {
  std::vector<int> fields;
  int clock = 0, mask = 0, label = 0, height = 0, place = 0;
  const std::size_t steps = made.days.size();
  make_netcdf(
      path, made.mode,
      [&](int id) {
        const int time = add_dimension(id, "time", NC_UNLIMITED), lat = add_dimension(id, "lat", 3),
                  lon = add_dimension(id, "lon", 2), plev = add_dimension(id, "plev", 2);
        clock = add_variable(id, "time", NC_DOUBLE, {time});
        set_text(id, clock, "units", made.units);
        set_text(id, clock, "calendar", made.calendar);
        for (const char* name : made.variables) fields.push_back(add_variable(id, name, NC_FLOAT, {time, lat, lon}));
        mask = add_variable(id, "land", NC_BYTE, {lat, lon});
        label = add_variable(id, "labels", NC_INT, {time, lat, lon});
        place = add_variable(id, "plev", NC_FLOAT, {plev});
        if (made.levels) height = add_variable(id, "W", NC_FLOAT, {time, plev, lat, lon});
      },
      [&](int id) {
        put(id, clock, {steps}, [&](std::size_t i) { return made.days[i]; });
        for (std::size_t v = 0; v < fields.size(); ++v)
          put(id, fields[v], {steps, 3, 2}, [&](std::size_t i) {
            return made.base + 1000.0 * static_cast<double>(v) + 100.0 * static_cast<double>(i / 6) +
                   static_cast<double>(i % 6);
          });
        put(id, mask, {3, 2}, [&](std::size_t i) { return static_cast<double>(i % 2) + made.base / 1000; });
        put(id, label, {steps, 3, 2}, [](std::size_t i) { return static_cast<double>(i % 3); });
        put(id, place, {2}, [](std::size_t i) { return i == 0 ? 850.0 : 500.0; });
        if (made.levels) put(id, height, {steps, 2, 3, 2}, [](std::size_t i) { return static_cast<double>(i); });
      });
}

TEST(NetcdfDataset, VariablesBecomeChannelsAndStepsSamples) {
  const TemporaryFolder folder;
  for (const int mode : {0, NC_64BIT_DATA, NC_NETCDF4}) {
    make_days(folder / "a.nc", {.mode = mode});
    const auto set =
        make_dataset(netcdf_dataset_spec(folder / "a.nc", {{"x", list({"U", "land", "T"})}, {"y", "labels"}}));
    ASSERT_EQ(set->size(), 3);
    EXPECT_EQ(set->fields()[0].shape, (Shape{3, 2, 3}));
    EXPECT_EQ(set->fields()[1].shape, (Shape{3, 2}));
    EXPECT_EQ(set->channels(), (std::vector<std::string>{"U", "land", "T"}));
    const auto sample = read_sample(*set, 2);
    EXPECT_EQ(sample[0], (std::vector<float>{1200, 0, 200, 1201, 1, 201, 1202, 0, 202,  //
                                             1203, 1, 203, 1204, 0, 204, 1205, 1, 205}));
    EXPECT_EQ(sample[1], (std::vector<float>{0, 1, 2, 0, 1, 2}));
    EXPECT_HAS(set->where(2), "a.nc step 2 (2005-01-03 00:00:00)");
    EXPECT_TRUE(set->spans().empty());
    EXPECT_EQ(make_dataset(netcdf_dataset_spec(folder / "a.nc"))->channels(), (std::vector<std::string>{"T", "U"}));
    EXPECT_EQ(make_dataset(netcdf_dataset_spec(folder / "a.nc"))->fields().size(), 1u);
  }
}

TEST(NetcdfDataset, FilesAreOrderedByTimeAndChosenByDate) {
  const TemporaryFolder folder;
  make_days(folder / "a.nc", {.days = {40, 41}, .base = 40000});
  make_days(folder / "b.nc", {.days = {0, 24}, .units = "hours since 2005-01-01", .base = 10000});
  make_days(folder / "c.nc", {.days = {3}, .calendar = "proleptic_gregorian", .base = 20000, .mode = 0});
  const auto first = [](const Dataset& set, std::int64_t i) { return read_sample(set, i)[0][0]; };
  const auto all = make_dataset(netcdf_dataset_spec(folder.path(), {{"x", "T"}}));
  ASSERT_EQ(all->size(), 5);
  EXPECT_EQ(first(*all, 1), 10100);
  EXPECT_EQ(first(*all, 2), 20000);
  EXPECT_EQ(first(*all, 4), 40100);
  const std::vector<FileSpan> spans = all->spans();
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].file, folder / "b.nc");
  EXPECT_EQ(spans[2].first, 3);
  EXPECT_EQ(spans[2].count, 2);
  const auto january =
      make_dataset(netcdf_dataset_spec(folder.path(), {{"x", "T"}, {"from", "2005-01-02"}, {"to", "2005-02-01"}}));
  ASSERT_EQ(january->size(), 2);
  EXPECT_EQ(first(*january, 0), 10100);
  EXPECT_EQ(first(*january, 1), 20000);
  const auto second = make_dataset(netcdf_dataset_spec(folder.path(), {{"x", "T"}, {"every", 2}, {"samples", 2}}));
  ASSERT_EQ(second->size(), 2);
  EXPECT_EQ(first(*second, 1), 20000);
  EXPECT_EQ(make_dataset(netcdf_dataset_spec(folder / "*.nc", {{"x", "T"}}))->size(), 5);
  EXPECT_HAS(error_of([&] {
               make_dataset(netcdf_dataset_spec(folder.path(), {{"from", "2006"}}));
             }),
             "no samples from '2006'");
  EXPECT_HAS(error_of([&] {
               make_dataset(netcdf_dataset_spec(folder.path(), {{"samples", 9}}));
             }),
             "9 samples were requested");
  EXPECT_HAS(error_of([&] {
               make_dataset(netcdf_dataset_spec(folder.path(), {{"from", "spring"}}));
             }),
             "'spring' is not a date");
  make_days(folder / "d.nc", {.calendar = "noleap"});
  EXPECT_HAS(error_of([&] { make_dataset(netcdf_dataset_spec(folder.path())); }), "d.nc: has the calendar noleap");
}

TEST(NetcdfDataset, VariablesInFilesOfTheirOwnAreJoinedByTime) {
  const TemporaryFolder folder;
  make_days(folder / "T2.nc", {.variables = {"T"}, .days = {2, 3}, .base = 2000});
  make_days(folder / "T1.nc", {.variables = {"T"}, .days = {0, 1}, .base = 1000});
  make_days(folder / "U.nc", {.variables = {"U"}, .days = {0, 1, 2, 3}, .base = 5000});
  const auto set = make_dataset(netcdf_dataset_spec(folder.path(), {{"x", list({"T", "U"})}}));
  ASSERT_EQ(set->size(), 4);
  EXPECT_EQ(read_sample(*set, 3)[0][0], 2100);
  EXPECT_EQ(read_sample(*set, 3)[0][1], 5300);
  make_days(folder / "T2.nc", {.variables = {"T"}, .days = {2, 4}});
  EXPECT_HAS(error_of([&] {
               make_dataset(netcdf_dataset_spec(folder.path(), {{"x", list({"T", "U"})}}));
             }),
             "'U' has a step at 2005-01-04 00:00:00 that 'T' does not have");
  EXPECT_HAS(error_of([&] {
               make_dataset(netcdf_dataset_spec(folder.path(), {{"x", "V"}}));
             }),
             "there is no variable 'V'");
}

TEST(NetcdfDataset, MembersOfOneTimeAreAllThere) {
  const TemporaryFolder folder;
  make_days(folder / "run1.nc", {.base = 10000});
  make_days(folder / "run2.nc", {.base = 20000});
  const auto set = make_dataset(netcdf_dataset_spec(folder.path(), {{"x", list({"T", "U", "land"})}}));
  ASSERT_EQ(set->size(), 6);
  EXPECT_EQ(
      read_sample(*set, 1)[0],
      (read_sample(*make_dataset(netcdf_dataset_spec(folder / "run2.nc", {{"x", list({"T", "U", "land"})}})), 0)[0]));
}

TEST(NetcdfDataset, LevelsAreChosenForAllOrForOneName) {
  const TemporaryFolder folder;
  make_days(folder / "a.nc", {.levels = true});
  const auto channels = [&](std::vector<std::pair<std::string, Value>> more) {
    return make_dataset(netcdf_dataset_spec(folder / "a.nc", std::move(more)))->channels();
  };
  EXPECT_EQ(channels({{"x", list({"W", "T"})}}), (std::vector<std::string>{"W@850", "W@500", "T"}));
  EXPECT_EQ(channels({{"x", list({"W", "T"})}, {"level", 500}}), (std::vector<std::string>{"W@500", "T"}));
  EXPECT_EQ(channels({{"x", list({"T", "W@850"})}}), (std::vector<std::string>{"T", "W@850"}));
  const auto set = make_dataset(netcdf_dataset_spec(folder / "a.nc", {{"x", list({"W@500", "T", "W@850"})}}));
  EXPECT_EQ(read_sample(*set, 1)[0][3], 19);
  EXPECT_EQ(read_sample(*set, 1)[0][4], 101);
  EXPECT_EQ(read_sample(*set, 1)[0][5], 13);
  EXPECT_HAS(error_of([&] { channels({{"x", "W@700"}}); }), "no level 700; its levels are 850, 500");
  EXPECT_HAS(error_of([&] { channels({{"x", "W@low"}}); }), "is not a level");
}

TEST(NetcdfDataset, MissingNumbersBecomeWhatIsAskedFor) {
  const TemporaryFolder folder;
  make_netcdf(
      folder / "a.nc", 0,
      [](int id) {
        const int v = add_variable(id, "v", NC_SHORT, {add_dimension(id, "x", 4)});
        set_numbers(id, v, "scale_factor", NC_FLOAT, {0.5});
        set_numbers(id, v, "missing_value", NC_SHORT, {-1});
      },
      [](int id) { put(id, 0, {4}, [](std::size_t i) {
                     return std::vector{2.0, -1.0, 4.0, 9.0}[i];
                   }); });
  const auto read = [&](const Value& missing) {
    return read_sample(*make_dataset(netcdf_dataset_spec(folder / "a.nc", {{"x", "v"}, {"missing", missing}})), 0)[0];
  };
  EXPECT_TRUE(std::isnan(read("nan")[1]));
  EXPECT_EQ(read("zero"), (std::vector<float>{1, 0, 2, 4.5}));
  EXPECT_EQ(read("mean"), (std::vector<float>{1, 2.5, 2, 4.5}));
  EXPECT_EQ(read(-999), (std::vector<float>{1, -999, 2, 4.5}));
  EXPECT_HAS(error_of([&] { read("gone"); }), "missing = nan, zero, mean");
}

TEST(NetcdfDataset, AFileWithoutStepsIsOneSample) {
  const TemporaryFolder folder;
  for (int i = 0; i < 3; ++i) {
    int clock = 0, v = 0, target = 0;
    make_netcdf(
        folder / fmt::format("{}.nc", i), NC_NETCDF4,
        [&](int id) {
          const int lon = add_dimension(id, "lon", 3), lat = add_dimension(id, "lat", 2);
          v = add_variable(id, "v", NC_DOUBLE, {lon, lat});  // the other way round
          clock = add_variable(id, "time", NC_INT, {});
          target = add_variable(id, "target", NC_FLOAT, {});
          set_text(id, clock, "units", "days since 2005-01-01");
        },
        [&](int id) {
          put(id, v, {3, 2}, [&](std::size_t k) { return 10.0 * i + static_cast<double>(k); });
          put(id, clock, {}, [&](std::size_t) { return 9.0 - i; });
          put(id, target, {}, [&](std::size_t) { return i; });
        });
  }
  const auto set = make_dataset(netcdf_dataset_spec(folder.path(), {{"x", "v"}, {"y", "target"}}));
  ASSERT_EQ(set->size(), 3);
  EXPECT_EQ(set->fields()[0].shape, (Shape{2, 3, 1}));
  EXPECT_EQ(set->fields()[1].shape, Shape{1});
  EXPECT_EQ(read_sample(*set, 0), (Held::Samples{{{20, 22, 24, 21, 23, 25}, {2}}}[0]));
  EXPECT_HAS(set->where(0), "2.nc (2005-01-08 00:00:00)");
}

TEST(NetcdfDataset, WhatDoesNotFitTogetherIsNamed) {
  const TemporaryFolder folder;
  make_days(folder / "a.nc", {});
  make_netcdf(
      folder / "b.nc", 0,
      [](int id) {
        const int time = add_dimension(id, "time", NC_UNLIMITED);
        const int lat = add_dimension(id, "lat", 4), lon = add_dimension(id, "lon", 2);
        set_text(id, add_variable(id, "time", NC_DOUBLE, {time}), "units", "months since 2000-01-01");
        add_variable(id, "T", NC_FLOAT, {time, lat, lon});
        add_variable(id, "text", NC_CHAR, {time, lat});
      },
      [](int id) {
        put(id, 1, {1, 4, 2}, [](std::size_t i) { return static_cast<double>(i); });
      });
  EXPECT_HAS(error_of([&] {
               make_dataset(netcdf_dataset_spec(folder / "b.nc", {{"from", "2001"}}));
             }),
             "a month has no fixed length in the calendar standard");
  EXPECT_EQ(make_dataset(netcdf_dataset_spec(folder / "b.nc"))->size(), 1);
  EXPECT_HAS(error_of([&] {
               make_dataset(netcdf_dataset_spec(folder / "b.nc", {{"x", "text"}}));
             }),
             "holds no numbers but char");
  const auto both = make_dataset(netcdf_dataset_spec(folder.path(), {{"x", "T"}}));
  EXPECT_HAS(error_of([&] { read_sample(*both, 3); }), "b.nc: variable 'T' has the grid 4x2 and 1 channels, but 3x2");
  EXPECT_HAS(error_of([&] {
               make_dataset(netcdf_dataset_spec(folder / "a.nc", {{"x", list({"T", "time"})}}));
             }),
             "channels of one sample need the same");
  EXPECT_HAS(error_of([&] { make_dataset(netcdf_dataset_spec(folder / "absent")); }), "no such file or folder");
  std::ofstream(folder / "c.nc") << "not NetCDF at all";
  EXPECT_HAS(error_of([&] { make_dataset(netcdf_dataset_spec(folder / "c.nc")); }), "c.nc: cannot open");
}

TEST(NetcdfDataset, WrittenFilesAreRecognisedAndReadBack) {
  const TemporaryFolder folder;
  const Held samples = numbered_samples(Shape{3, 4, 2}, 5);
  int number = 0;
  for (const char* format : {"netcdf", "netcdf(kind=classic, type=int16, y_type=int8)", "netcdf(kind=64bit)",
                             "netcdf(kind=cdf5, type=uint8)", "netcdf(deflate=3, type=int32)",
                             "netcdf(low=0, high=254, type=uint8, grid=none, names=[a, b])"}) {
    SCOPED_TRACE(format);
    const std::filesystem::path path = folder / fmt::format("{}.data", number++);
    write_set(format, path, samples);
    EXPECT_EQ(format_of(path), "netcdf");
    const auto set = make_dataset(netcdf_dataset_spec(path, {{"y", "labels"}}));
    expect_same(*set, samples);
    const Contents contents = look_into(glance_at(path));
    ASSERT_EQ(contents.readers.size(), 1u);
    expect_same(*make_dataset(contents.readers[0]), samples);
  }
  for (const Shape& shape : {Shape{3}, Shape{4, 3}, Shape{2, 3, 4, 3}}) {
    const std::filesystem::path path = folder / fmt::format("{}.nc", number++);
    write_set("netcdf", path, numbered_samples(shape, 4));
    const auto set = make_dataset(netcdf_dataset_spec(path, {{"x", list({"x0", "x1", "x2"})}, {"y", "labels"}}));
    expect_same(*set, numbered_samples(shape, 4));
  }
}

TEST(NetcdfDataset, NumbersThatDoNotFitAreNamedWithTheirSample) {
  const TemporaryFolder folder;
  const Held samples({{"x", Shape{2, 1}}}, {{{1, 2}}, {{3, 4.5}}});
  EXPECT_HAS(error_of([&] { write_set("netcdf(type=int16)", folder / "a.nc", samples); }),
             "sample 1: 'x0' cannot be stored as int16: 4.5");
  EXPECT_HAS(error_of([&] { write_set("netcdf(type=int16, low=0, high=4)", folder / "a.nc", samples); }),
             "cannot be stored as int16 from 0 to 4: 4.5");
  EXPECT_HAS(error_of([&] { write_set("netcdf(low=0, high=4)", folder / "a.nc", samples); }),
             "to pack from low to high");
  EXPECT_HAS(error_of([&] { write_set("netcdf(kind=classic, deflate=1)", folder / "a.nc", samples); }), "deflate");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  const Held gap({{"x", Shape{2, 1}}}, {{{NAN, 2}}});
  write_set("netcdf(type=int16, low=0, high=4, start='2005-01-01 06:00', hours=1)", folder / "a.nc", gap);
  const auto set = make_dataset(netcdf_dataset_spec(folder / "a.nc", {{"missing", 9}}));
  EXPECT_EQ(read_sample(*set, 0)[0][0], 9);
  EXPECT_NEAR(read_sample(*set, 0)[0][1], 2, 1e-4);
  EXPECT_HAS(set->where(0), "2005-01-01 06:00:00");
}

TEST(NetcdfDataset, LookTellsWhatIsInside) {
  const TemporaryFolder folder;
  make_days(folder / "a.nc", {.levels = true, .mode = 0});
  make_days(folder / "b.nc", {.days = {7}});
  const Contents contents = look_into(glance_at(folder.path()));
  EXPECT_EQ(contents.summary,
            "NetCDF classic, 2 files; in the first, a.nc: 3 steps from 2005-01-01 00:00:00 to 2005-01-03 00:00:00");
  EXPECT_EQ(contents.parts.back().shape, "time=3 plev=2 lat=3 lon=2");
  ASSERT_EQ(contents.readers.size(), 1u);
  EXPECT_HAS(contents.readers[0].str(), "x=['T', 'U', 'W'], y='labels'");
}

TEST(NetcdfDataset, FilesLikePublicOnesBecomeSamples) {
  const TemporaryFolder data;
  make_climate(data.path());
  const auto rivers = make_dataset(netcdf_dataset_spec(data / "IWV_IVT_MERRA_20170228_00.nc"));
  EXPECT_EQ(rivers->channels(), (std::vector<std::string>{"IWV", "IVT"}));
  EXPECT_EQ(rivers->fields()[0].shape, (Shape{6, 8, 2}));
  EXPECT_HAS(rivers->where(0), "2017-02-28 00:00:00");
  const auto winds =
      make_dataset(netcdf_dataset_spec(data / "erai_*.nc", {{"x", list({"u@850", "v@850", "t@200", "t@500"})}}));
  EXPECT_EQ(winds->fields()[0].shape, (Shape{5, 7, 4}));
  ASSERT_EQ(winds->size(), 1);
  const std::vector<float> sample = read_sample(*winds, 0)[0];
  for (std::size_t i = 0; i < 35; ++i) {
    const auto unpacked = [&](std::size_t level, double offset) {
      return static_cast<float>(0.125 * climate_number(35 * level + i) + offset);
    };
    EXPECT_EQ(sample[4 * i], unpacked(2, 10)) << i;
    EXPECT_EQ(sample[4 * i + 1], unpacked(2, 10)) << i;
    EXPECT_EQ(sample[4 * i + 2], unpacked(0, 250)) << i;
    EXPECT_EQ(sample[4 * i + 3], unpacked(1, 250)) << i;
  }
  EXPECT_HAS(winds->where(0), "2005-01-23 00:00:00");
  const Contents months = look_into(glance_at(data / "eraint_uvz.nc"));
  ASSERT_EQ(months.readers.size(), 2u);
  EXPECT_EQ(make_dataset(months.readers[1])->fields()[0].shape, (Shape{5, 7, 9}));
  const auto heights =
      make_dataset(netcdf_dataset_spec(data / "eraint_uvz.nc", {{"time", "month"}, {"x", "z"}, {"level", 500}}));
  ASSERT_EQ(heights->size(), 2);
  EXPECT_EQ(read_sample(*heights, 1)[0][3], 100 - 0.5f * static_cast<float>(climate_number(35 * 4 + 3)));
  EXPECT_EQ(make_dataset(netcdf_dataset_spec(data / "falwa_u_QGPV_240hPa_2012Oct28to31_Sandy.nc"))->size(), 4);
}

TEST(NetcdfDataset, PublicFilesBecomeSamples) {
  const std::filesystem::path data = public_data("climate_nc");
  if (data.empty()) GTEST_SKIP() << "the public files are not beside this tree";
  const auto rivers = make_dataset(netcdf_dataset_spec(data / "IWV_IVT_MERRA_20170228_00.nc"));
  EXPECT_EQ(rivers->channels(), (std::vector<std::string>{"IWV", "IVT"}));
  EXPECT_EQ(rivers->fields()[0].shape, (Shape{361, 576, 2}));
  const auto winds =
      make_dataset(netcdf_dataset_spec(data / "erai_*.nc", {{"x", list({"u@850", "v@850", "t@200", "t@500"})}}));
  EXPECT_EQ(winds->fields()[0].shape, (Shape{121, 240, 4}));
  ASSERT_EQ(winds->size(), 1);
  const std::vector<float> sample = read_sample(*winds, 0)[0];
  for (std::size_t i = 0; i < sample.size(); i += 4) {
    EXPECT_LT(std::abs(sample[i]), 80);
    EXPECT_TRUE(sample[i + 3] > 220 && sample[i + 3] < 290) << sample[i + 3];
  }
  EXPECT_HAS(winds->where(0), "2005-01-23 00:00:00");
  const Contents months = look_into(glance_at(data / "eraint_uvz.nc"));
  ASSERT_EQ(months.readers.size(), 2u);
  EXPECT_EQ(make_dataset(months.readers[1])->fields()[0].shape, (Shape{241, 480, 9}));
  EXPECT_EQ(make_dataset(netcdf_dataset_spec(data / "eraint_uvz.nc", {{"time", "month"}, {"x", "z"}, {"level", 500}}))
                ->size(),
            2);
  EXPECT_EQ(make_dataset(netcdf_dataset_spec(data / "falwa_u_QGPV_240hPa_2012Oct28to31_Sandy.nc"))->size(), 4);
}

}  // namespace
}  // namespace isobar::datasets
