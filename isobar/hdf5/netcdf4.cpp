// NetCDF-4: HDF5 files whose arrays share named dimensions. A dimension is an array that is a dimension scale, and also
// its coordinate variable unless its name says otherwise; an array without scales gets dimensions by its extents. A
// variable may be shorter than its unlimited dimension: the rest reads as its fill value.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/hdf5_array.hpp"
#include "isobar/hdf5/netcdf4_objects.hpp"

namespace isobar::hdf5 {
namespace {

constexpr std::string_view not_coordinate = "_nc4_non_coord_";

std::string group_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string variable_name(const std::string& path) {
  const std::string group = group_of(path);
  std::string name = path.substr(group.size());
  if (name.starts_with(not_coordinate)) name.erase(0, not_coordinate.size());
  return group + name;
}

/// Finds the dimensions of all variables.
class Dimensions {
 public:
  Dimensions(const std::vector<Netcdf4Object>& objects, NetcdfHeader& header) : header_(header) {
    std::vector<const Netcdf4Object*> scales;
    for (const Netcdf4Object& object : objects)
      if (object.is_dimension && !object.extents.empty()) scales.push_back(&object);
    std::ranges::stable_sort(scales, {}, &Netcdf4Object::dimension_number);
    for (const Netcdf4Object* scale : scales) {
      by_address_[scale->address] = by_number_[scale->dimension_number] = header_.dimensions.size();
      for (const auto& user : scale->users) by_user_.emplace(user, header_.dimensions.size());
      header_.dimensions.push_back({scale->path, scale->extents[0], scale->unlimited[0]});
    }
  }

  std::vector<std::size_t> of(const Netcdf4Object& object) {
    std::vector<std::size_t> found;
    for (std::size_t axis = 0; axis < object.extents.size(); ++axis) {
      std::optional<std::size_t> named = told(object, axis);
      // A fixed dimension of another size cannot belong to this axis, whatever the file says.
      if (named && !header_.dimensions[*named].unlimited && header_.dimensions[*named].size != object.extents[axis])
        named.reset();
      const std::size_t dimension = named ? *named : phony(object, axis, found);
      if (header_.dimensions[dimension].unlimited)
        header_.dimensions[dimension].size = std::max(header_.dimensions[dimension].size, object.extents[axis]);
      found.push_back(dimension);
    }
    return found;
  }

 private:
  std::optional<std::size_t> told(const Netcdf4Object& object, std::size_t axis) const {
    if (object.coordinates.size() == object.extents.size()) {
      const auto found = by_number_.find(object.coordinates[axis]);
      if (found != by_number_.end() && object.coordinates[axis] >= 0) return found->second;
    }
    if (object.is_dimension && axis == 0) return by_address_.at(object.address);
    const auto found = by_user_.find({object.address, static_cast<std::int64_t>(axis)});
    if (found != by_user_.end()) return found->second;
    return std::nullopt;
  }

  // As in the NetCDF library: axes of one group with equal extents share a dimension, but not axes of one variable.
  std::size_t phony(const Netcdf4Object& object, std::size_t axis, const std::vector<std::size_t>& used) {
    std::vector<std::size_t>& made = phony_[group_of(object.path)];
    for (const std::size_t dimension : made) {
      const NetcdfDimension& known = header_.dimensions[dimension];
      if (known.size == object.extents[axis] && known.unlimited == object.unlimited[axis] &&
          std::ranges::find(used, dimension) == used.end())
        return dimension;
    }
    made.push_back(header_.dimensions.size());
    header_.dimensions.push_back(
        {fmt::format("phony_dim_{}", phony_count_++), object.extents[axis], object.unlimited[axis]});
    return made.back();
  }

  NetcdfHeader& header_;
  std::map<std::uint64_t, std::size_t> by_address_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::size_t> by_user_;  // array and axis
  std::map<std::int64_t, std::size_t> by_number_;
  std::map<std::string, std::vector<std::size_t>> phony_;
  int phony_count_ = 0;
};

double fill_of(const Netcdf4Object& object) {
  for (const NetcdfAttribute& attribute : object.attributes)
    if (attribute.name == "_FillValue" && !attribute.numbers.empty()) return attribute.numbers[0];
  return default_fill(object.stored).value_or(object.stored.is_signed ? -127 : 255);
}

class Netcdf4Storage final : public NetcdfStorage {
 public:
  Netcdf4Storage(files::InputFile file, NetcdfHeader& header) : file_(Hdf5File::open(std::move(file))) {
    header.kind = "NetCDF-4";
    const std::vector<Netcdf4Object> objects = list_netcdf4(file_, header.attributes);
    Dimensions dimensions(objects, header);
    for (const Netcdf4Object& object : objects) {
      if (!object.is_variable) continue;
      header.variables.push_back({.name = variable_name(object.path),
                                  .type = object.type,
                                  .stored = object.stored,
                                  .dimensions = dimensions.of(object),
                                  .shape = {},
                                  .attributes = object.attributes,
                                  .storage = object.storage});
      arrays_.push_back(std::make_unique<Lazy>(object.path, object.extents, fill_of(object)));
    }
    // After all variables: each may have extended an unlimited dimension.
    for (NetcdfVariable& variable : header.variables) {
      std::vector<std::int64_t> extents;
      for (const std::size_t d : variable.dimensions) extents.push_back(header.dimensions[d].size);
      variable.shape = Shape(std::move(extents));
    }
  }

  void read(std::size_t variable, Indices from, Indices extent, std::span<float> out) const override {
    read_as<float>(variable, from, extent, out);
  }
  void read(std::size_t variable, Indices from, Indices extent, std::span<double> out) const override {
    read_as<double>(variable, from, extent, out);
  }

 private:
  /// Opened on first read: a file may have hundreds of arrays, and some that cannot be read.
  struct Lazy {
    Lazy(std::string name, std::vector<std::int64_t> stored_extents, double filled)
        : path(std::move(name)), extents(std::move(stored_extents)), fill(filled) {}
    std::string path;
    std::vector<std::int64_t> extents;
    double fill;
    std::mutex opening;
    std::unique_ptr<Hdf5Array> array;
  };

  const Hdf5Array& opened(Lazy& lazy) const {
    const std::lock_guard lock(lazy.opening);
    if (!lazy.array) {
      auto array = std::make_unique<Hdf5Array>(file_, lazy.path);
      if (array->shape().extents() != lazy.extents)
        fail("{}: '{}' has changed while it was read", file_.path().string(), lazy.path);
      lazy.array = std::move(array);
    }
    return *lazy.array;
  }

  template <class T>
  void read_as(std::size_t variable, Indices from, Indices extent, std::span<T> out) const {
    Lazy& lazy = *arrays_[variable];
    const Hdf5Array& array = opened(lazy);
    IndexArray held(extent);
    bool whole = true;
    for (std::size_t a = 0; a < extent.size(); ++a) {
      held[a] = std::clamp(lazy.extents[a] - from[a], std::int64_t{0}, extent[a]);
      whole = whole && held[a] == extent[a];
    }
    if (whole) return array.read_box<T>(from, extent, out);
    std::ranges::fill(out, static_cast<T>(lazy.fill));
    std::vector<T> part(box_count(held));
    if (part.empty()) return;
    array.read_box<T>(from, held, part);
    const IndexArray start(extent.size());
    for_each_run(held, held, start, extent, start, [&](std::int64_t source, std::int64_t target, std::int64_t count) {
      std::copy_n(part.begin() + source, count, out.begin() + target);
    });
  }

  Hdf5File file_;
  std::vector<std::unique_ptr<Lazy>> arrays_;
};

}  // namespace

std::unique_ptr<NetcdfStorage> open_netcdf4(files::InputFile file, NetcdfHeader& header) {
  return std::make_unique<Netcdf4Storage>(std::move(file), header);
}

}  // namespace isobar::hdf5
