#include "isobar/hdf5/netcdf4_objects.hpp"

#include <algorithm>
#include <fstream>

#include <hdf5.h>

#include "isobar/hdf5/hdf5_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/hdf5/made_netcdf.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::hdf5 {
namespace {

using namespace isobar::tests;

TEST(Netcdf4Objects, DimensionsAndAttributesAreTold) {
  const TemporaryFolder folder;
  make_netcdf(
      folder / "a.nc", NC_NETCDF4,
      [](int id) {
        const int time = add_dimension(id, "time", NC_UNLIMITED), x = add_dimension(id, "x", 4);
        const int v = add_variable(id, "v", NC_SHORT, {time, x});
        add_variable(id, "x", NC_FLOAT, {x});
        set_text(id, v, "units", "m");
        set_text(id, NC_GLOBAL, "title", "t");
        nc(nc_def_var_deflate(id, v, 1, 1, 4));
      },
      [](int) {});
  std::vector<NetcdfAttribute> attributes;
  const std::vector<Netcdf4Object> found = list_netcdf4(folder / "a.nc", attributes);
  ASSERT_EQ(attributes.size(), 1u);  // the library's internal attributes are left out
  EXPECT_EQ(attributes[0].text, "t");
  const auto object = [&](const std::string& path) -> const Netcdf4Object& {
    return *std::ranges::find(found, path, &Netcdf4Object::path);
  };
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(object("time").is_dimension);
  EXPECT_FALSE(object("time").is_variable);
  EXPECT_TRUE(object("x").is_dimension && object("x").is_variable);
  EXPECT_FALSE(object("v").is_dimension);
  EXPECT_EQ(object("v").extents, (std::vector<std::int64_t>{0, 4}));
  EXPECT_EQ(object("v").unlimited, (std::vector<bool>{true, false}));
  EXPECT_EQ(object("v").attributes.size(), 1u);
  EXPECT_HAS(object("v").storage, "shuffle, gzip");
  using Users = std::vector<std::pair<std::uint64_t, std::int64_t>>;
  EXPECT_EQ(object("time").users, (Users{{object("v").address, 0}}));
  EXPECT_EQ(object("x").users, (Users{{object("v").address, 1}}));
}

TEST(Netcdf4Objects, AGroupInsideItselfIsListedOnce) {
  const TemporaryFolder folder;
  Hdf5File made = Hdf5File::create(folder / "a.h5");
  made.write<float>("a/b/v", Shape{2}, std::vector<float>{1, 2});
  made.commit(false);
  {
    const auto lock = lock_hdf5();
    const hid_t file = H5Fopen((folder / "a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(H5Lcreate_hard(file, "/a", file, "/a/b/again", H5P_DEFAULT, H5P_DEFAULT), 0);
    ASSERT_GE(H5Lcreate_external("elsewhere.h5", "/x", file, "/a/outside", H5P_DEFAULT, H5P_DEFAULT), 0);
    ASSERT_GE(H5Lcreate_soft("/nowhere", file, "/a/soft", H5P_DEFAULT, H5P_DEFAULT), 0);
    H5Fclose(file);
  }
  std::vector<NetcdfAttribute> attributes;
  const std::vector<Netcdf4Object> found = list_netcdf4(folder / "a.h5", attributes);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, "a/b/v");
}

TEST(Netcdf4Objects, WhatIsNoneIsRefused) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.nc") << "neither CDF nor HDF5";
  std::vector<NetcdfAttribute> attributes;
  EXPECT_HAS(error_of([&] { list_netcdf4(folder / "a.nc", attributes); }), "cannot open as a NetCDF-4 file");
}

}  // namespace
}  // namespace isobar::hdf5
