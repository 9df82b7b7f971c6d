#include "isobar/hdf5/netcdf_file.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/input_file.hpp"
#include "isobar/hdf5/netcdf_packing.hpp"

namespace isobar::hdf5 {
namespace {

bool is_classic(const files::InputFile& file) {
  if (file.size() < 4) fail("{}: is no NetCDF file: it has {} bytes", file.path().string(), file.size());
  std::array<std::uint8_t, 4> magic{};
  file.read_at(0, magic);
  return magic[0] == 'C' && magic[1] == 'D' && magic[2] == 'F';
}

}  // namespace

NetcdfFile::NetcdfFile(std::filesystem::path path) : path_(std::move(path)) {
  files::InputFile file(path_);
  const bool classic = is_classic(file);
  storage_ = classic ? open_classic(std::move(file), header_) : open_netcdf4(std::move(file), header_);
}

const NetcdfVariable* NetcdfFile::find(std::string_view name) const {
  const auto found = std::ranges::find(header_.variables, name, &NetcdfVariable::name);
  return found == header_.variables.end() ? nullptr : &*found;
}

const NetcdfVariable& NetcdfFile::variable(std::string_view name) const {
  if (const NetcdfVariable* found = find(name)) return *found;
  std::vector<std::string> names;
  for (const NetcdfVariable& variable : header_.variables) names.push_back(one_line(variable.name));
  fail("{}: there is no variable '{}'{}", path_.string(), name, suggestion(name, names));
}

template <class T>
void NetcdfFile::read_stored(const NetcdfVariable& variable, Indices from, Indices extent, std::span<T> out) const {
  const std::size_t number = &variable - header_.variables.data();
  expects(number < header_.variables.size(), "a variable of this file");
  if (!variable.is_numbers())
    fail("{}: variable '{}' holds no numbers but {}", path_.string(), variable.name, variable.type);
  const Indices shape = variable.shape.extents();
  expects(from.size() == shape.size() && extent.size() == shape.size(), "one index and one extent per axis");
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    expects(from[axis] >= 0 && extent[axis] >= 0 && extent[axis] <= shape[axis] - from[axis], "a box in the variable");
  expects(box_count(extent) == std::ssize(out), "memory of the box's size");
  if (!out.empty()) storage_->read(number, from, extent, out);
}

template <class T>
void NetcdfFile::read_values(const NetcdfVariable& variable, Indices from, Indices extent, std::span<T> out,
                             T missing) const {
  const NetcdfPacking packing(variable);
  if (sizeof(T) == sizeof(double) || packing.exact_as_float()) {
    read_stored(variable, from, extent, out);
    packing.unpack(out, missing);
    return;
  }
  std::vector<double> exact(out.size());
  read_stored<double>(variable, from, extent, exact);
  packing.unpack(std::span(exact), static_cast<double>(missing));
  std::ranges::transform(exact, out.begin(), [](double value) { return static_cast<T>(value); });
}

std::vector<double> NetcdfFile::read_all(const NetcdfVariable& variable, std::int64_t most) const {
  const Shape& shape = variable.shape;
  const std::int64_t count =
      checked_count(shape.extents(), most, fmt::format("{}: variable '{}'", path_.string(), variable.name));
  std::vector<double> values(count);
  read_values<double>(variable, IndexArray(shape.rank()), shape.extents(), values);
  return values;
}

template void NetcdfFile::read_stored(const NetcdfVariable&, Indices, Indices, std::span<float>) const;
template void NetcdfFile::read_stored(const NetcdfVariable&, Indices, Indices, std::span<double>) const;
template void NetcdfFile::read_values(const NetcdfVariable&, Indices, Indices, std::span<float>, float) const;
template void NetcdfFile::read_values(const NetcdfVariable&, Indices, Indices, std::span<double>, double) const;

}  // namespace isobar::hdf5
