#include "isobar/hdf5/netcdf_writer.hpp"

#include <array>
#include <netcdf.h>
#include <string>
#include <type_traits>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/disk/output_file.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"

namespace isobar::hdf5 {
namespace {

int mode_of(NetcdfKind kind) {
  switch (kind) {
    case NetcdfKind::offset64: return NC_64BIT_OFFSET;
    case NetcdfKind::cdf5: return NC_64BIT_DATA;
    case NetcdfKind::netcdf4: return NC_NETCDF4;
    default: return 0;
  }
}

int type_of(files::NumberType type) {
  switch (type) {
    case files::NumberType::int8: return NC_BYTE;
    case files::NumberType::uint8: return NC_UBYTE;
    case files::NumberType::int16: return NC_SHORT;
    case files::NumberType::uint16: return NC_USHORT;
    case files::NumberType::int32: return NC_INT;
    case files::NumberType::uint32: return NC_UINT;
    case files::NumberType::int64: return NC_INT64;
    case files::NumberType::uint64: return NC_UINT64;
    case files::NumberType::float32: return NC_FLOAT;
    case files::NumberType::float64: return NC_DOUBLE;
    default: return NC_NAT;
  }
}

template <class T>
int put(int id, int variable, const size_t* from, const size_t* extent, const T* values) {
  if constexpr (std::is_same_v<T, float>) return nc_put_vara_float(id, variable, from, extent, values);
  else if constexpr (std::is_same_v<T, double>) return nc_put_vara_double(id, variable, from, extent, values);
  else if constexpr (std::is_same_v<T, std::int16_t>) return nc_put_vara_short(id, variable, from, extent, values);
  else if constexpr (std::is_same_v<T, std::int32_t>) return nc_put_vara_int(id, variable, from, extent, values);
  else if constexpr (std::is_same_v<T, std::uint8_t>) return nc_put_vara_uchar(id, variable, from, extent, values);
  else {
    static_assert(std::is_same_v<T, std::int64_t> && sizeof(long long) == sizeof(T));
    return nc_put_vara_longlong(id, variable, from, extent, reinterpret_cast<const long long*>(values));
  }
}

}  // namespace

NetcdfWriter::NetcdfWriter(std::filesystem::path path, NetcdfKind kind)
    : path_(std::move(path)), temporary_(disk::temporary_beside(path_)), kind_(kind) {
  const auto lock = lock_hdf5();
  checked(nc_create(temporary_.c_str(), mode_of(kind) | NC_CLOBBER, &id_), "create", "");
  int before = 0;
  // Everything will be written, so nothing needs to be filled first.
  checked(nc_set_fill(id_, NC_NOFILL, &before), "create", "");
}

NetcdfWriter::~NetcdfWriter() {
  if (id_ >= 0) {
    const auto lock = lock_hdf5();
    nc_abort(id_);
  }
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void NetcdfWriter::checked(int status, std::string_view attempt, std::string_view name) const {
  if (status != NC_NOERR)
    fail("{}: cannot {}{}: {}", path_.string(), attempt, name.empty() ? "" : fmt::format(" '{}'", name),
         nc_strerror(status));
}

int NetcdfWriter::add_dimension(std::string_view name, std::int64_t size) {
  expects(defining_ && size >= 0, "a dimension of some size, before numbers are written");
  const auto lock = lock_hdf5();
  int made = 0;
  checked(nc_def_dim(id_, std::string(name).c_str(), size, &made), "add dimension", name);
  return made;
}

int NetcdfWriter::add_variable(std::string_view name, files::NumberType type, std::span<const int> dimensions,
                               int deflate) {
  expects(defining_, "a variable that is told before numbers are written");
  expects(deflate >= 0 && deflate <= 9 && (deflate == 0 || kind_ == NetcdfKind::netcdf4), "deflate of NetCDF-4");
  if (type_of(type) == NC_NAT)
    fail("{}: variable '{}' cannot be {}: NetCDF has no such type", path_.string(), name, name_of(type));
  const auto lock = lock_hdf5();
  int made = 0;
  checked(nc_def_var(id_, std::string(name).c_str(), type_of(type), dimensions.size(), dimensions.data(), &made),
          fmt::format("add a variable of {}", name_of(type)), name);
  if (deflate > 0 && !dimensions.empty())
    checked(nc_def_var_deflate(id_, made, NC_SHUFFLE, 1, deflate), "compress variable", name);
  return made;
}

void NetcdfWriter::set_text(int variable, std::string_view key, std::string_view value) {
  expects(defining_, "an attribute that is told before numbers are written");
  const auto lock = lock_hdf5();
  checked(nc_put_att_text(id_, variable == file ? NC_GLOBAL : variable, std::string(key).c_str(), value.size(),
                          value.data()),
          "set attribute", key);
}

void NetcdfWriter::set_numbers(int variable, std::string_view key, files::NumberType type,
                               std::span<const double> values) {
  expects(defining_, "an attribute that is told before numbers are written");
  const auto lock = lock_hdf5();
  checked(nc_put_att_double(id_, variable == file ? NC_GLOBAL : variable, std::string(key).c_str(), type_of(type),
                            values.size(), values.data()),
          "set attribute", key);
}

void NetcdfWriter::end_definitions() {
  if (!std::exchange(defining_, false)) return;
  checked(nc_enddef(id_), "write the header", "");
}

template <class T>
void NetcdfWriter::write(int variable, Indices from, Indices extent, std::span<const T> values) {
  expects(id_ >= 0, "a file that was not yet committed");
  expects(from.size() == extent.size() && box_count(extent) == std::ssize(values), "as many values as the box has");
  const auto lock = lock_hdf5();
  end_definitions();
  const std::vector<size_t> at(from.begin(), from.end()), size(extent.begin(), extent.end());
  std::array<char, NC_MAX_NAME + 1> name{};
  nc_inq_varname(id_, variable, name.data());
  checked(put(id_, variable, at.data(), size.data(), values.data()), "write", name.data());
}

void NetcdfWriter::commit() {
  expects(id_ >= 0, "a file that was not yet committed");
  {
    const auto lock = lock_hdf5();
    end_definitions();
    checked(nc_close(std::exchange(id_, -1)), "close", "");
  }
  std::error_code code;
  std::filesystem::rename(temporary_, path_, code);
  if (code) fail("{}: cannot be moved into place: {}", path_.string(), code.message());
  temporary_.clear();
}

template void NetcdfWriter::write(int, Indices, Indices, std::span<const float>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const double>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const std::int16_t>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const std::int32_t>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const std::int64_t>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const std::uint8_t>);

}  // namespace isobar::hdf5
