// Hdf5File: arrays read by the library itself, under its lock; Hdf5Array is faster.
#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"

namespace isobar::hdf5 {

template <class T>
void Hdf5File::read(std::string_view name, std::span<T> out) const {
  const auto lock = lock_hdf5();
  const Handle array = open_array(name);
  const Shape shape = extents(array, name);
  if (shape.count() != std::ssize(out))
    fail("{}: '{}' holds {} numbers ({}), {} were expected", path_.string(), name, shape.count(), shape.str(),
         out.size());
  if (out.empty()) return;
  checked(H5Dread(array.id, hdf5_memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), "read", name);
}

template <class T>
void Hdf5File::read_rows(std::string_view name, std::int64_t first, std::int64_t count, std::span<T> out) const {
  const auto lock = lock_hdf5();
  const Handle array = open_array(name);
  const Shape shape = extents(array, name);
  if (shape.rank() == 0 || first < 0 || count < 0 || first + count > shape[0])
    fail("{}: '{}' ({}) has no rows {} to {}", path_.string(), name, shape.str(), first, first + count - 1);
  const std::int64_t numbers = count * shape.count(1, shape.rank());
  expects(numbers == std::ssize(out), "memory of the rows' size");
  if (numbers == 0) return;
  std::vector<hsize_t> from(shape.rank(), 0);
  std::vector<hsize_t> extent(shape.extents().begin(), shape.extents().end());
  from[0] = first;
  extent[0] = count;
  const Handle part(checked(H5Dget_space(array.id), "get the shape of", name), H5Sclose);
  checked(H5Sselect_hyperslab(part.id, H5S_SELECT_SET, from.data(), nullptr, extent.data(), nullptr), "select rows of",
          name);
  const hsize_t flat = numbers;
  const Handle memory(checked(H5Screate_simple(1, &flat, nullptr), "select rows of", name), H5Sclose);
  checked(H5Dread(array.id, hdf5_memory_type<T>(), memory.id, part.id, H5P_DEFAULT, out.data()), "read", name);
}

template void Hdf5File::read(std::string_view, std::span<float>) const;
template void Hdf5File::read(std::string_view, std::span<double>) const;
template void Hdf5File::read(std::string_view, std::span<std::int16_t>) const;
template void Hdf5File::read(std::string_view, std::span<std::int32_t>) const;
template void Hdf5File::read(std::string_view, std::span<std::int64_t>) const;
template void Hdf5File::read(std::string_view, std::span<std::uint8_t>) const;
template void Hdf5File::read_rows(std::string_view, std::int64_t, std::int64_t, std::span<float>) const;
template void Hdf5File::read_rows(std::string_view, std::int64_t, std::int64_t, std::span<double>) const;
template void Hdf5File::read_rows(std::string_view, std::int64_t, std::int64_t, std::span<std::int16_t>) const;
template void Hdf5File::read_rows(std::string_view, std::int64_t, std::int64_t, std::span<std::int32_t>) const;
template void Hdf5File::read_rows(std::string_view, std::int64_t, std::int64_t, std::span<std::int64_t>) const;
template void Hdf5File::read_rows(std::string_view, std::int64_t, std::int64_t, std::span<std::uint8_t>) const;

}  // namespace isobar::hdf5
