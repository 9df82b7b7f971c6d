// Small NetCDF files built like published reanalyses and forecasts: packed winds with a single number as time, months
// without dates, masks without time, several vertical axes, attributes of the wrong type.
#pragma once

#include <fstream>
#include <map>

#include "tests/hdf5/made_netcdf.hpp"

namespace isobar::tests {

struct ClimateVariable {
  std::string name;
  nc_type type;
  std::vector<std::string> axes;
  std::map<std::string, std::string> texts{};
  std::map<std::string, std::pair<nc_type, double>> numbers{};
  std::vector<double> values{};  ///< empty: number i is climate_number(i)
  bool packed = false;           ///< shuffled and deflated
};

struct ClimateFile {
  std::string name;
  int mode;
  std::vector<std::pair<std::string, std::size_t>> axes;
  std::string grows{};    ///< the axis that grows
  std::size_t steps = 0;  ///< how far it has grown
  std::vector<ClimateVariable> variables;
};

/// The number at place i of a variable, as stored.
inline double climate_number(std::size_t i) { return static_cast<double>(i * 37 % 101) - 50; }

inline void write_climate_file(const std::filesystem::path& folder, const ClimateFile& file) {
  std::map<std::string, std::pair<int, std::size_t>> axes;
  std::vector<int> variables;
  const auto define = [&](int id) {
    for (const auto& [name, size] : file.axes) axes[name] = {add_dimension(id, name.c_str(), size), size};
    if (!file.grows.empty()) axes[file.grows] = {add_dimension(id, file.grows.c_str(), NC_UNLIMITED), file.steps};
    for (const ClimateVariable& variable : file.variables) {
      std::vector<int> over;
      for (const std::string& axis : variable.axes) over.push_back(axes.at(axis).first);
      const int made = add_variable(id, variable.name.c_str(), variable.type, over);
      if (variable.packed) nc(nc_def_var_deflate(id, made, 1, 1, 4));
      for (const auto& [key, text] : variable.texts) set_text(id, made, key.c_str(), text);
      for (const auto& [key, number] : variable.numbers)
        set_numbers(id, made, key.c_str(), number.first, {number.second});
      variables.push_back(made);
    }
  };
  const auto fill = [&](int id) {
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const ClimateVariable& variable = file.variables[v];
      std::vector<std::size_t> extent;
      for (const std::string& axis : variable.axes) extent.push_back(axes.at(axis).second);
      put(id, variables[v], extent,
          [&](std::size_t i) { return variable.values.empty() ? climate_number(i) : variable.values.at(i); });
    }
  };
  make_netcdf(folder / file.name, file.mode, define, fill);
}

/// Names an attribute `_FillValue`, which the library refuses if its type is not that of its variable.
inline void rename_to_fill_value(const std::filesystem::path& path, const std::string& from) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  in.close();
  const std::string to = "_FillValue";
  for (std::size_t at = 0; (at = bytes.find(from, at)) != std::string::npos;) bytes.replace(at, to.size(), to);
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Makes twelve files in a folder, named like the public ones they imitate.
inline void make_climate(const std::filesystem::path& folder) {
  const auto coordinate = [](const std::string& name, nc_type type, const std::string& units,
                             std::vector<double> values = {}) {
    return ClimateVariable{.name = name, .type = type, .axes = {name}, .texts = {{"units", units}}, .values = values};
  };
  const auto field = [](const std::string& name, nc_type type, std::vector<std::string> axes, bool packed = false) {
    return ClimateVariable{.name = name, .type = type, .axes = axes, .texts = {{"units", "1"}}, .packed = packed};
  };
  const ClimateVariable lat = coordinate("lat", NC_DOUBLE, "degrees_north", {-60, -30, -10, 10, 30, 60}),
                        lon = coordinate("lon", NC_DOUBLE, "degrees_east", {0, 45, 90, 135, 180, 225, 270, 315});
  const std::pair<std::string, std::size_t> six{"lat", 6}, eight{"lon", 8}, latitudes{"latitude", 5},
      longitudes{"longitude", 7};
  ClimateVariable latitude = coordinate("latitude", NC_FLOAT, "degrees_north", {60, 30, 0, -30, -60}),
                  longitude = coordinate("longitude", NC_FLOAT, "degrees_east", {0, 50, 100, 150, 200, 250, 300});
  latitude.numbers = longitude.numbers = {{"_FillValue", {NC_FLOAT, NAN}}};
  const std::vector<double> heights{200, 500, 850, 1000};

  write_climate_file(folder, {.name = "IWV_IVT_MERRA_20170228_00.nc",
                              .mode = 0,
                              .axes = {six, eight},
                              .grows = "time",
                              .steps = 1,
                              .variables = {coordinate("time", NC_DOUBLE, "days since 1979-01-01 00:00:00", {13938}),
                                            lat, lon, field("IWV", NC_FLOAT, {"time", "lat", "lon"}),
                                            field("IVT", NC_FLOAT, {"time", "lat", "lon"})}});
  ClimateVariable basin = field("basin", NC_BYTE, {"Z", "Y", "X"}, true);
  basin.numbers = {{"valid_min", {NC_INT, 1}}, {"valid_max", {NC_INT, 58}}, {"missing_value", {NC_BYTE, -50}}};
  write_climate_file(folder,
                     {.name = "basin_mask.nc",
                      .mode = NC_NETCDF4,
                      .axes = {{"X", 9}, {"Y", 4}, {"Z", 3}},
                      .variables = {coordinate("X", NC_FLOAT, "degree_east"), coordinate("Y", NC_FLOAT, "degree_north"),
                                    coordinate("Z", NC_FLOAT, "m"), basin}});
  for (const std::string name : {"t", "u", "v"}) {
    ClimateVariable packed = field(name, NC_SHORT, {"level", "latitude", "longitude"});
    packed.texts["coordinates"] = "time";
    packed.numbers = {{"_FillValue", {NC_SHORT, -32767}},
                      {"missing_value", {NC_SHORT, -32767}},
                      {"add_offset", {NC_DOUBLE, name == "t" ? 250 : 10}},
                      {"scale_factor", {NC_DOUBLE, 0.125}}};
    ClimateVariable clock{.name = "time", .type = NC_INT, .axes = {}, .values = {920952}};
    clock.texts = {{"units", "hours since 1900-01-01"}, {"calendar", "gregorian"}};
    write_climate_file(
        folder, {.name = "erai_2005-01-23-0000-" + name + ".nc",
                 .mode = NC_NETCDF4,
                 .axes = {longitudes, latitudes, {"level", 4}},
                 .grows = "time",
                 .variables = {longitude, latitude, coordinate("level", NC_INT, "millibars", heights), clock, packed}});
  }
  ClimateFile months{.name = "eraint_uvz.nc",
                     .mode = NC_64BIT_OFFSET,
                     .axes = {longitudes, latitudes, {"level", 3}, {"month", 2}},
                     .variables = {longitude, latitude, coordinate("level", NC_INT, "millibars", {200, 500, 850})}};
  for (const std::string name : {"z", "u", "v"}) {
    months.variables.push_back(field(name, NC_SHORT, {"month", "level", "latitude", "longitude"}));
    months.variables.back().numbers = {
        {"scale_factor", {NC_DOUBLE, -0.5}}, {"add_offset", {NC_DOUBLE, 100}}, {"_FillValuX", {NC_DOUBLE, NAN}}};
  }
  months.variables.push_back({.name = "month", .type = NC_INT, .axes = {"month"}, .values = {1, 7}});
  write_climate_file(folder, months);
  rename_to_fill_value(folder / months.name, "_FillValuX");
  write_climate_file(
      folder, {.name = "falwa_barotropic_vorticity.nc",
               .mode = NC_NETCDF4,
               .axes = {latitudes, longitudes},
               .variables = {latitude, longitude, field("absolute_vorticity", NC_FLOAT, {"latitude", "longitude"})}});
  const std::vector<std::string> flow{"time", "levelist", "latitude", "longitude"};
  write_climate_file(folder, {.name = "falwa_u_QGPV_240hPa_2012Oct28to31_Sandy.nc",
                              .mode = NC_NETCDF4,
                              .axes = {{"levelist", 1}, latitudes, longitudes},
                              .grows = "time",
                              .steps = 4,
                              .variables = {coordinate("levelist", NC_FLOAT, "hPa", {240}), latitude, longitude,
                                            field("U", NC_FLOAT, flow), field("QGPV", NC_FLOAT, flow)}});
  const ClimateVariable projection{.name = "LatLon_Projection", .type = NC_INT, .axes = {}, .values = {0}};
  ClimateVariable height = field("Geopotential_height_isobaric", NC_FLOAT, {"time3", "isobaric6", "lat", "lon"});
  height.numbers = {{"missing_value", {NC_FLOAT, NAN}}};
  write_climate_file(
      folder, {.name = "metpy_GFS_global.nc",
               .mode = NC_NETCDF4,
               .axes = {{"time3", 3}, {"isobaric6", 1}, six, eight},
               .variables = {height, coordinate("time3", NC_DOUBLE, "Hour since 2021-01-30T12:00:00Z", {0, 3, 6}),
                             coordinate("isobaric6", NC_FLOAT, "Pa", {50000}), lat, lon, projection}});
  write_climate_file(
      folder,
      {.name = "metpy_GFS_test.nc",
       .mode = NC_NETCDF4,
       .axes = {{"time", 1}, {"isobaric3", 4}, six, eight, {"height_above_ground1", 1}, {"isobaric5", 3}},
       .variables = {
           field("u-component_of_wind_isobaric", NC_FLOAT, {"time", "isobaric3", "lat", "lon"}),
           coordinate("time", NC_DOUBLE, "Hour since 2010-10-26T12:00:00+00:00", {0}),
           coordinate("isobaric3", NC_FLOAT, "Pa", heights), lat, lon,
           field("v-component_of_wind_height_above_ground", NC_FLOAT, {"time", "height_above_ground1", "lat", "lon"}),
           coordinate("height_above_ground1", NC_FLOAT, "m", {10}),
           coordinate("isobaric5", NC_FLOAT, "Pa", {10, 20, 30}),
           field("Temperature_isobaric", NC_FLOAT, {"time", "isobaric5", "lat", "lon"}), projection}});
  ClimateVariable deflated_lat = lat, deflated_lon = lon;
  deflated_lat.packed = deflated_lon.packed = true;
  write_climate_file(folder, {.name = "metpy_gfs_output.nc",
                              .mode = NC_NETCDF4,
                              .axes = {six, eight},
                              .grows = "time",
                              .steps = 1,
                              .variables = {deflated_lat, deflated_lon,
                                            coordinate("time", NC_DOUBLE, "Hour since 2017-02-28T18:00:00Z", {6}),
                                            field("temp", NC_DOUBLE, {"time", "lat", "lon"}, true),
                                            field("precip_water", NC_DOUBLE, {"time", "lat", "lon"}, true)}});
  write_climate_file(folder, {.name = "tiny.nc",
                              .mode = 0,
                              .axes = {{"dim_0", 5}},
                              .variables = {{.name = "tiny", .type = NC_INT, .axes = {"dim_0"}}}});
}

}  // namespace isobar::tests
