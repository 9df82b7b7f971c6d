// Used if the NetCDF library was not found: files can be read, by our own code, but not written.
#include "isobar/base/error.hpp"
#include "isobar/hdf5/netcdf_writer.hpp"

namespace isobar::hdf5 {

NetcdfWriter::NetcdfWriter(std::filesystem::path path, NetcdfKind kind) : path_(std::move(path)), kind_(kind) {
  fail("{}: cannot be written: this build has no NetCDF; install libnetcdf-dev and build again", path_.string());
}

NetcdfWriter::~NetcdfWriter() = default;
int NetcdfWriter::add_dimension(std::string_view, std::int64_t) { return 0; }
int NetcdfWriter::add_variable(std::string_view, files::NumberType, std::span<const int>, int) { return 0; }
void NetcdfWriter::set_text(int, std::string_view, std::string_view) {}
void NetcdfWriter::set_numbers(int, std::string_view, files::NumberType, std::span<const double>) {}
void NetcdfWriter::commit() {}

template <class T>
void NetcdfWriter::write(int, Indices, Indices, std::span<const T>) {}

template void NetcdfWriter::write(int, Indices, Indices, std::span<const float>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const double>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const std::int16_t>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const std::int32_t>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const std::int64_t>);
template void NetcdfWriter::write(int, Indices, Indices, std::span<const std::uint8_t>);

}  // namespace isobar::hdf5
