// The names of the kinds of NetCDF files; also available without the library that writes them.
#include <array>
#include <utility>

#include "isobar/hdf5/netcdf_writer.hpp"

namespace isobar::hdf5 {
namespace {

constexpr std::array<std::pair<std::string_view, NetcdfKind>, 4> kinds{{{"classic", NetcdfKind::classic},
                                                                        {"64bit", NetcdfKind::offset64},
                                                                        {"cdf5", NetcdfKind::cdf5},
                                                                        {"netcdf4", NetcdfKind::netcdf4}}};

}  // namespace

std::optional<NetcdfKind> netcdf_kind(std::string_view name) {
  for (const auto& [word, kind] : kinds)
    if (word == name) return kind;
  return std::nullopt;
}

}  // namespace isobar::hdf5
