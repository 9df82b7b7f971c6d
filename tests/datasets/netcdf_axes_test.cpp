#include "isobar/datasets/netcdf_axes.hpp"

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/hdf5/made_netcdf.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;
using Axes = std::vector<std::size_t>;

// Axes that are identified by attributes, by names, or not at all.
std::filesystem::path make_file(const TemporaryFolder& folder) {
  std::vector<int> written;
  int pressure = 0, clock = 0;
  make_netcdf(
      folder / "a.nc", 0,
      [&](int id) {
        const int t = add_dimension(id, "step", NC_UNLIMITED), p = add_dimension(id, "p", 3),
                  u = add_dimension(id, "u", 4), v = add_dimension(id, "v", 5), lat = add_dimension(id, "lat", 2),
                  lon = add_dimension(id, "lon", 6), cell = add_dimension(id, "cell", 7),
                  month = add_dimension(id, "month", 12);
        clock = add_variable(id, "XTIME", NC_DOUBLE, {t});
        set_text(id, clock, "units", "hours since 2000-01-01");
        pressure = add_variable(id, "p", NC_FLOAT, {p});
        set_text(id, pressure, "units", "hPa");
        set_text(id, add_variable(id, "u", NC_FLOAT, {u}), "units", "degrees_north");
        set_text(id, add_variable(id, "v", NC_FLOAT, {v}), "axis", "X");
        add_variable(id, "wind", NC_FLOAT, {t, p, u, v});
        add_variable(id, "turned", NC_FLOAT, {t, lon, lat});
        add_variable(id, "cells", NC_FLOAT, {t, p, cell});
        add_variable(id, "seasons", NC_FLOAT, {month, lat, lon});
        add_variable(id, "series", NC_FLOAT, {t});
      },
      [&](int id) {
        put(id, pressure, {3}, [](std::size_t i) { return std::vector{850.0, 500.0, 200.0}[i]; });
        put(id, clock, {2}, [](std::size_t i) { return 6.0 * static_cast<double>(i); });
      });
  return folder / "a.nc";
}

TEST(NetcdfAxes, AxesAreKnownByAttributesOrNames) {
  const TemporaryFolder folder;
  const hdf5::NetcdfFile file(make_file(folder));
  NetcdfAxes axes = axes_of(file, file.variable("wind"), "");
  EXPECT_EQ(axes.time, 0u);
  EXPECT_EQ(axes.space, (Axes{2, 3}));
  EXPECT_EQ(axes.channels, Axes{1});
  EXPECT_EQ(axes.level, 1u);
  axes = axes_of(file, file.variable("turned"), "");
  EXPECT_EQ(axes.space, (Axes{2, 1}));
  axes = axes_of(file, file.variable("cells"), "");
  EXPECT_EQ(axes.space, Axes{2});
  EXPECT_EQ(axes.channels, Axes{1});
  axes = axes_of(file, file.variable("seasons"), "");
  EXPECT_FALSE(axes.time);
  EXPECT_EQ(axes.channels, Axes{0});
  axes = axes_of(file, file.variable("seasons"), "month");
  EXPECT_EQ(axes.time, 0u);
  EXPECT_TRUE(axes.channels.empty());
  axes = axes_of(file, file.variable("series"), "");
  EXPECT_EQ(axes.time, 0u);
  EXPECT_TRUE(axes.space.empty());
}

TEST(NetcdfAxes, LevelsBecomeChannels) {
  const TemporaryFolder folder;
  const hdf5::NetcdfFile file(make_file(folder));
  const hdf5::NetcdfVariable& wind = file.variable("wind");
  const NetcdfAxes axes = axes_of(file, wind, "");
  std::vector<NetcdfChannel> channels = channels_of(file, wind, axes, {});
  ASSERT_EQ(channels.size(), 3u);
  EXPECT_EQ(channels[1].name, "wind@500");
  EXPECT_EQ(channels[1].from, (std::vector<std::int64_t>{0, 1, 0, 0}));
  channels = channels_of(file, wind, axes, std::vector{200.0, 850.0});
  ASSERT_EQ(channels.size(), 2u);
  EXPECT_EQ(channels[0].name, "wind@200");
  EXPECT_EQ(channels[0].from[1], 2);
  EXPECT_HAS(error_of([&] { channels_of(file, wind, axes, std::vector{700.0}); }),
             "'wind' has no level 700; its levels are 850, 500, 200 (hPa)");
  const hdf5::NetcdfVariable& turned = file.variable("turned");
  EXPECT_EQ(channels_of(file, turned, axes_of(file, turned, ""), std::vector{850.0})[0].name, "turned");
}

TEST(NetcdfAxes, TimesAreReadOrTheReasonIsGiven) {
  const TemporaryFolder folder;
  const hdf5::NetcdfFile file(make_file(folder));
  const NetcdfTimes times = times_along(file, 0);
  ASSERT_EQ(times.instants.size(), 2u);
  EXPECT_EQ(date_of(times.calendar, times.instants[1]).str(), "2000-01-01 06:00:00");
  EXPECT_HAS(times_along(file, 7).obstacle, "dimension 'month' has no coordinate with units");
  EXPECT_TRUE(time_of_file(file).instants.empty());
}

}  // namespace
}  // namespace isobar::datasets
