#include "isobar/hdf5/netcdf_writer.hpp"

#include <thread>

#include "isobar/hdf5/netcdf_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/hdf5/made_netcdf.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;
using Extents = std::vector<std::int64_t>;

constexpr std::array kinds{NetcdfKind::classic, NetcdfKind::offset64, NetcdfKind::cdf5, NetcdfKind::netcdf4};

// time(time), and v(time, x) packed into shorts.
void write_small(const std::filesystem::path& path, NetcdfKind kind, int steps, bool finish = true) {
  NetcdfWriter writer(path, kind);
  const std::array axes{writer.add_dimension("time", NetcdfWriter::unlimited), writer.add_dimension("x", 3)};
  const int time = writer.add_variable("time", files::NumberType::float64, std::span(axes).first(1));
  const int v = writer.add_variable("v", files::NumberType::int16, axes, kind == NetcdfKind::netcdf4 ? 4 : 0);
  writer.set_text(time, "units", "hours since 2000-01-01");
  writer.set_text(NetcdfWriter::file, "Conventions", "CF-1.8");
  writer.set_numbers(v, "scale_factor", files::NumberType::float64, std::vector{0.5});
  writer.set_numbers(v, "_FillValue", files::NumberType::int16, std::vector{-1.0});
  for (std::int64_t t = 0; t < steps; ++t) {
    const auto hour = static_cast<double>(6 * t);
    writer.write<double>(time, Extents{t}, Extents{1}, {&hour, 1});
    const std::vector<float> row{static_cast<float>(t), -1, 10};
    writer.write<float>(v, Extents{t, 0}, Extents{1, 3}, row);
  }
  if (finish) writer.commit();
}

TEST(NetcdfWriter, EveryKindIsReadBackByUsAndByTheLibrary) {
  const TemporaryFolder folder;
  for (const NetcdfKind kind : kinds) {
    write_small(folder / "a.nc", kind, 5);
    EXPECT_EQ(expect_as_library(folder / "a.nc"), 2);
    const NetcdfFile file(folder / "a.nc");
    EXPECT_TRUE(file.dimensions()[0].unlimited);
    EXPECT_EQ(file.attributes()[0].text, "CF-1.8");
    const std::vector<double> values = file.read_all(file.variable("v"));
    EXPECT_EQ(values[9], 1.5);
    EXPECT_TRUE(std::isnan(values[10]));
    EXPECT_EQ(values[11], 5);
    EXPECT_EQ(file.read_all(file.variable("time")), (std::vector<double>{0, 6, 12, 18, 24}));
  }
}

TEST(NetcdfWriter, WhatIsNotCommittedLeavesNothingBehind) {
  const TemporaryFolder folder;
  for (const NetcdfKind kind : kinds) write_small(folder / "a.nc", kind, 5, false);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_HAS(error_of([&] { write_small(folder / "absent/a.nc", NetcdfKind::classic, 1); }), "a.nc: cannot create");
}

TEST(NetcdfWriter, WhatDoesNotFitIsNamed) {
  const TemporaryFolder folder;
  NetcdfWriter writer(folder / "a.nc", NetcdfKind::classic);
  const int x = writer.add_dimension("x", 1);
  const int v = writer.add_variable("v", files::NumberType::int16, {&x, 1});
  EXPECT_HAS(error_of([&] {
               writer.add_variable("w", files::NumberType::uint16, {&x, 1});
             }),
             "a variable of uint16 'w'");
  EXPECT_HAS(error_of([&] { writer.add_variable("w", files::NumberType::float16, {&x, 1}); }), "cannot be float16");
  EXPECT_HAS(error_of([&] { writer.add_variable("v", files::NumberType::int8, {&x, 1}); }), "in use");
  const std::vector<float> large{1e6f};
  EXPECT_HAS(error_of([&] { writer.write<float>(v, Extents{0}, Extents{1}, large); }), "cannot write 'v'");
  EXPECT_EQ(netcdf_kind("64bit"), NetcdfKind::offset64);
  EXPECT_FALSE(netcdf_kind("grib"));
}

TEST(NetcdfWriter, FilesAreWrittenWhileOthersAreRead) {
  const TemporaryFolder folder;
  write_small(folder / "read.nc", NetcdfKind::netcdf4, 9);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) write_small(folder / fmt::format("{}.nc", t), NetcdfKind::netcdf4, 3);
    });
  for (int i = 0; i < 50; ++i) {
    const NetcdfFile file(folder / "read.nc");
    EXPECT_EQ(file.read_all(file.variable("time")).back(), 48);
  }
}

}  // namespace
}  // namespace isobar::hdf5
