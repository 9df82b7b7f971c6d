#include "isobar/hdf5/hdf5_array.hpp"

#include <vector>

#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/hdf5_direct.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"
#include "isobar/hdf5/hdf5_storage.hpp"

namespace isobar::hdf5 {
namespace {

template <class T>
void read_by_library(const Hdf5Storage& storage, Indices from, Indices extent, T* out) {
  const auto checked = [&](Hdf5Id result) { return checked_hdf5(result, storage.file, "read", storage.name); };
  const auto lock = lock_hdf5();
  if (from.empty()) {
    checked(H5Dread(storage.array.id, hdf5_memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out));
    return;
  }
  const std::vector<hsize_t> start(from.begin(), from.end()), count(extent.begin(), extent.end());
  const Hdf5Handle part(checked(H5Dget_space(storage.array.id)), H5Sclose);
  checked(H5Sselect_hyperslab(part.id, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
  const hsize_t flat = box_count(extent);
  const Hdf5Handle memory(checked(H5Screate_simple(1, &flat, nullptr)), H5Sclose);
  checked(H5Dread(storage.array.id, hdf5_memory_type<T>(), memory.id, part.id, H5P_DEFAULT, out));
}

}  // namespace

Hdf5Array::Hdf5Array(const Hdf5File& file, std::string_view name) : storage_(std::make_unique<Hdf5Storage>()) {
  expects(file.temporary_.empty(), "a file open for reading");
  storage_->file = file.path();
  storage_->name = name;
  const auto lock = lock_hdf5();  // after storage_: if this throws, it is released before ~Hdf5Storage takes it again
  storage_->array = file.open_array(name);
  storage_->shape = file.extents(storage_->array, name);
  find_storage(*storage_);
}

Hdf5Array::Hdf5Array(Hdf5Array&&) noexcept = default;
Hdf5Array& Hdf5Array::operator=(Hdf5Array&&) noexcept = default;
Hdf5Array::~Hdf5Array() = default;

const Shape& Hdf5Array::shape() const { return storage_->shape; }
const files::Stored& Hdf5Array::stored() const { return storage_->stored; }
bool Hdf5Array::direct() const { return storage_->kind != Hdf5Storage::Kind::library; }
std::int64_t Hdf5Array::file_bytes() const { return storage_->file_bytes; }

std::string Hdf5Array::describe() const {
  return storage_->type_name + (storage_->chunk_name.empty() ? "" : ", ") + storage_->chunk_name;
}

template <class T>
void Hdf5Array::read_box(Indices from, Indices extent, std::span<T> out) const {
  const Indices shape = storage_->extents();
  expects(from.size() == shape.size() && extent.size() == shape.size(), "one number per axis");
  for (std::size_t a = 0; a < shape.size(); ++a)
    if (from[a] < 0 || extent[a] < 0 || from[a] > shape[a] || extent[a] > shape[a] - from[a])
      fail("{}: '{}' ({}) has no entries {} to {} of axis {}", storage_->file.string(), storage_->name,
           storage_->shape.str(), from[a], from[a] + extent[a] - 1, a);
  expects(box_count(extent) == std::ssize(out), "memory of the box's size");
  if (out.empty()) return;
  if (direct()) read_direct<T>(*storage_, from, extent, out.data());
  else read_by_library<T>(*storage_, from, extent, out.data());
}

template <class T>
void Hdf5Array::read(std::span<T> out) const {
  const Indices shape = storage_->extents();
  if (box_count(shape) != std::ssize(out))
    fail("{}: '{}' holds {} numbers ({}), {} were expected", storage_->file.string(), storage_->name, box_count(shape),
         storage_->shape.str(), out.size());
  read_box<T>(IndexArray(shape.size()), shape, out);
}

template <class T>
void Hdf5Array::read_rows(std::int64_t first, std::int64_t count, std::span<T> out) const {
  const Indices shape = storage_->extents();
  if (shape.empty() || first < 0 || count < 0 || first > shape[0] || count > shape[0] - first)
    fail("{}: '{}' ({}) has no rows {} to {}", storage_->file.string(), storage_->name, storage_->shape.str(), first,
         first + count - 1);
  IndexArray from(shape.size()), extent(shape);
  from[0] = first;
  extent[0] = count;
  read_box<T>(from, extent, out);
}

template void Hdf5Array::read(std::span<float>) const;
template void Hdf5Array::read(std::span<double>) const;
template void Hdf5Array::read(std::span<std::int16_t>) const;
template void Hdf5Array::read(std::span<std::int32_t>) const;
template void Hdf5Array::read(std::span<std::int64_t>) const;
template void Hdf5Array::read(std::span<std::uint8_t>) const;
template void Hdf5Array::read_rows(std::int64_t, std::int64_t, std::span<float>) const;
template void Hdf5Array::read_rows(std::int64_t, std::int64_t, std::span<double>) const;
template void Hdf5Array::read_rows(std::int64_t, std::int64_t, std::span<std::int16_t>) const;
template void Hdf5Array::read_rows(std::int64_t, std::int64_t, std::span<std::int32_t>) const;
template void Hdf5Array::read_rows(std::int64_t, std::int64_t, std::span<std::int64_t>) const;
template void Hdf5Array::read_rows(std::int64_t, std::int64_t, std::span<std::uint8_t>) const;
template void Hdf5Array::read_box(Indices, Indices, std::span<float>) const;
template void Hdf5Array::read_box(Indices, Indices, std::span<double>) const;
template void Hdf5Array::read_box(Indices, Indices, std::span<std::int16_t>) const;
template void Hdf5Array::read_box(Indices, Indices, std::span<std::int32_t>) const;
template void Hdf5Array::read_box(Indices, Indices, std::span<std::int64_t>) const;
template void Hdf5Array::read_box(Indices, Indices, std::span<std::uint8_t>) const;

}  // namespace isobar::hdf5
