// NetCDF files made with the NetCDF library itself, and what that library reads from a file, as a second opinion.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <netcdf.h>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/hdf5/hdf5_lock.hpp"
#include "isobar/hdf5/netcdf_file.hpp"

namespace isobar::tests {

inline void nc(int status) {
  if (status != NC_NOERR) throw std::runtime_error(nc_strerror(status));
}

/// Makes a file: `define` declares its parts, then `fill` writes into it.
inline void make_netcdf(const std::filesystem::path& path, int mode, const std::function<void(int)>& define,
                        const std::function<void(int)>& fill) {
  const auto lock = hdf5::lock_hdf5();
  int id = 0;
  nc(nc_create(path.c_str(), mode | NC_CLOBBER, &id));
  define(id);
  nc(nc_enddef(id));
  fill(id);
  nc(nc_close(id));
}

/// Adds a dimension, or a variable over dimensions, and returns its number.
inline int add_dimension(int id, const char* name, std::size_t size) {
  int made = 0;
  nc(nc_def_dim(id, name, size, &made));
  return made;
}
inline int add_variable(int id, const char* name, nc_type type, std::vector<int> dimensions) {
  int made = 0;
  nc(nc_def_var(id, name, type, static_cast<int>(dimensions.size()), dimensions.data(), &made));
  return made;
}
inline void set_text(int id, int variable, const char* key, const std::string& value) {
  nc(nc_put_att_text(id, variable, key, value.size(), value.data()));
}
inline void set_numbers(int id, int variable, const char* key, nc_type type, std::vector<double> values) {
  nc(nc_put_att_double(id, variable, key, type, values.size(), values.data()));
}
/// Writes value(i) for every number i of a variable, from its beginning, with `extent` numbers along the axes.
inline void put(int id, int variable, std::vector<std::size_t> extent,
                const std::function<double(std::size_t)>& value) {
  std::size_t count = 1;
  for (const std::size_t n : extent) count *= n;
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(value(i));
  const std::vector<std::size_t> from(extent.size(), 0);
  nc(nc_put_vara_double(id, variable, from.data(), extent.data(), values.data()));
}

/// The group and the number of a variable named by its path.
inline std::pair<int, int> locate(int id, std::string path) {
  for (std::size_t slash; (slash = path.find('/')) != std::string::npos; path.erase(0, slash + 1))
    nc(nc_inq_ncid(id, path.substr(0, slash).c_str(), &id));
  int variable = 0;
  nc(nc_inq_varid(id, path.c_str(), &variable));
  return {id, variable};
}

inline bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Checks that our reader finds in a file what the library finds: shapes, types, numbers as stored, as a whole and in a
/// box from the middle. Returns how many variables of numbers were compared.
inline int expect_as_library(const std::filesystem::path& path) {
  const hdf5::NetcdfFile file(path);
  int library = 0, compared = 0;
  {
    const auto lock = hdf5::lock_hdf5();
    nc(nc_open(path.c_str(), NC_NOWRITE, &library));
  }
  for (const hdf5::NetcdfVariable& variable : file.variables()) {
    SCOPED_TRACE(path.filename().string() + ": " + variable.name);
    const auto rank = static_cast<std::size_t>(variable.shape.rank());
    std::vector<std::size_t> from(rank, 0), extent(rank);
    std::vector<double> whole(static_cast<std::size_t>(variable.shape.count())), box;
    {
      const auto lock = hdf5::lock_hdf5();
      const auto [group, number] = locate(library, variable.name);
      int type = 0, axes = 0, dimensions[NC_MAX_VAR_DIMS];
      nc(nc_inq_var(group, number, nullptr, &type, &axes, dimensions, nullptr));
      EXPECT_EQ(static_cast<std::size_t>(axes), rank);
      if (static_cast<std::size_t>(axes) != rank) continue;
      for (std::size_t a = 0; a < rank; ++a) {
        nc(nc_inq_dimlen(group, dimensions[a], &extent[a]));
        EXPECT_EQ(static_cast<std::int64_t>(extent[a]), variable.shape[static_cast<int>(a)]);
        char name[NC_MAX_NAME + 1];
        nc(nc_inq_dimname(group, dimensions[a], name));
        const std::string ours = file.dimensions()[variable.dimensions[a]].name;
        const std::string made_up = "phony_dim_";  // their numbers are arbitrary
        if (!ours.starts_with(made_up)) {
          EXPECT_EQ(ours.substr(ours.rfind('/') + 1), name);
        } else {
          EXPECT_TRUE(std::string(name).starts_with(made_up)) << name;
        }
      }
      char name[NC_MAX_NAME + 1];
      nc(nc_inq_type(group, type, name, nullptr));
      if (type <= NC_STRING) {
        EXPECT_EQ(variable.type, name);
      }
      if (!variable.is_numbers() || type > NC_MAX_ATOMIC_TYPE) continue;
      if (!whole.empty()) nc(nc_get_vara_double(group, number, from.data(), extent.data(), whole.data()));
      for (std::size_t a = 0; a < rank; ++a) {
        from[a] = extent[a] / 3;
        extent[a] = (extent[a] - from[a] + 1) / 2;
      }
      std::size_t count = 1;
      for (const std::size_t n : extent) count *= n;
      box.resize(count);
      if (count > 0) nc(nc_get_vara_double(group, number, from.data(), extent.data(), box.data()));
    }
    const auto compare = [&](std::vector<std::int64_t> begin, std::vector<std::int64_t> size,
                             const std::vector<double>& wanted) {
      std::vector<double> found(wanted.size(), -7);
      file.read_stored<double>(variable, begin, size, found);
      std::vector<float> narrow(wanted.size(), -7);
      file.read_stored<float>(variable, begin, size, narrow);
      int wrong = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        wrong += !same(found[i], wanted[i]) || !same(narrow[i], static_cast<float>(wanted[i]));
      EXPECT_EQ(wrong, 0) << "of " << wanted.size();
    };
    compare(std::vector<std::int64_t>(rank, 0), variable.shape.extents(), whole);
    compare({from.begin(), from.end()}, {extent.begin(), extent.end()}, box);
    ++compared;
  }
  const auto lock = hdf5::lock_hdf5();
  nc(nc_close(library));
  return compared;
}

}  // namespace isobar::tests
