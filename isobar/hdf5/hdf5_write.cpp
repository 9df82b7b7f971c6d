// Hdf5File: writing arrays, at once or row by row.
#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"

namespace isobar::hdf5 {
namespace {

Hdf5Handle made_type(files::NumberType type) {
  const auto copy = [](hid_t known) { return Hdf5Handle(H5Tcopy(known), H5Tclose); };
  switch (type) {
    case files::NumberType::int8: return copy(H5T_STD_I8LE);
    case files::NumberType::bool8:
    case files::NumberType::uint8: return copy(H5T_STD_U8LE);
    case files::NumberType::int16: return copy(H5T_STD_I16LE);
    case files::NumberType::uint16: return copy(H5T_STD_U16LE);
    case files::NumberType::int32: return copy(H5T_STD_I32LE);
    case files::NumberType::uint32: return copy(H5T_STD_U32LE);
    case files::NumberType::int64: return copy(H5T_STD_I64LE);
    case files::NumberType::uint64: return copy(H5T_STD_U64LE);
    case files::NumberType::float32: return copy(H5T_IEEE_F32LE);
    case files::NumberType::float64: return copy(H5T_IEEE_F64LE);
    case files::NumberType::float16: break;
  }
  Hdf5Handle half = copy(H5T_IEEE_F32LE);
  H5Tset_fields(half.id, 15, 10, 5, 0, 10);
  H5Tset_size(half.id, 2);
  H5Tset_ebias(half.id, 15);
  return half;
}

}  // namespace

template <class T>
void Hdf5File::write(std::string_view name, const Shape& shape, std::span<const T> values) {
  expects(shape.count() == std::ssize(values), "as many values as the shape says");
  const auto lock = lock_hdf5();
  const Handle array = make_typed(name, shape, hdf5_memory_type<T>(), {});
  if (values.empty()) return;
  checked(H5Dwrite(array.id, hdf5_memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write", name);
}

void Hdf5File::make_array(std::string_view name, const Shape& shape, const Hdf5Making& making) {
  expects(shape.rank() > 0 && (making.gzip == 0 || making.chunk.rank() > 0), "rows, and chunks where they are packed");
  const auto lock = lock_hdf5();
  make_typed(name, shape, made_type(making.type).id, making);
}

void Hdf5File::make_texts(std::string_view name, std::int64_t count, std::size_t length) {
  expects(length > 0, "texts of some length");
  const auto lock = lock_hdf5();
  const Handle type(checked(H5Tcopy(H5T_C_S1), "make texts", name), H5Tclose);
  checked(H5Tset_size(type.id, length), "make texts", name);
  checked(H5Tset_strpad(type.id, H5T_STR_NULLPAD), "make texts", name);
  checked(H5Tset_cset(type.id, H5T_CSET_UTF8), "make texts", name);
  make_typed(name, Shape{count}, type.id, {});
}

Hdf5File::Handle Hdf5File::make_typed(std::string_view name, const Shape& shape, Id type, const Hdf5Making& making) {
  const Handle links(checked(H5Pcreate(H5P_LINK_CREATE), "make array", name), H5Pclose);
  checked(H5Pset_create_intermediate_group(links.id, 1), "make array", name);
  const Handle properties(checked(H5Pcreate(H5P_DATASET_CREATE), "make array", name), H5Pclose);
  if (making.chunk.rank() > 0) {
    const std::vector<hsize_t> chunk(making.chunk.extents().begin(), making.chunk.extents().end());
    expects(chunk.size() == shape.extents().size(), "chunks with the axes of the array");
    checked(H5Pset_chunk(properties.id, chunk.size(), chunk.data()), "chunk", name);
    if (making.gzip > 0) {
      checked(H5Pset_shuffle(properties.id), "compress", name);
      checked(H5Pset_deflate(properties.id, making.gzip), "compress", name);
    }
  }
  const std::vector<hsize_t> sizes(shape.extents().begin(), shape.extents().end());
  const Id made = sizes.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(sizes.size(), sizes.data(), nullptr);
  const Handle space(checked(made, "make array", name), H5Sclose);
  return {checked(H5Dcreate2(file_, std::string(name).c_str(), type, space.id, links.id, properties.id, H5P_DEFAULT),
                  "make array", name),
          H5Dclose};
}

void Hdf5File::write_rows(std::string_view name, std::int64_t first, std::span<const std::uint8_t> bytes) {
  const auto lock = lock_hdf5();
  const Handle array(checked(H5Dopen2(file_, std::string(name).c_str(), H5P_DEFAULT), "open array", name), H5Dclose);
  const Handle type(checked(H5Dget_type(array.id), "get the type of", name), H5Tclose);
  const Shape shape = extents(array, name);
  const std::size_t row = static_cast<std::size_t>(shape.count(1, shape.rank())) * H5Tget_size(type.id);
  expects(row > 0 && bytes.size() % row == 0, "whole rows");
  std::vector<hsize_t> from(shape.rank(), 0);
  std::vector<hsize_t> extent(shape.extents().begin(), shape.extents().end());
  from[0] = first;
  extent[0] = bytes.size() / row;
  const Handle part(checked(H5Dget_space(array.id), "get the shape of", name), H5Sclose);
  checked(H5Sselect_hyperslab(part.id, H5S_SELECT_SET, from.data(), nullptr, extent.data(), nullptr), "select rows of",
          name);
  const Handle memory(checked(H5Screate_simple(shape.rank(), extent.data(), nullptr), "select rows of", name),
                      H5Sclose);
  checked(H5Dwrite(array.id, type.id, memory.id, part.id, H5P_DEFAULT, bytes.data()), "write", name);
}

template void Hdf5File::write(std::string_view, const Shape&, std::span<const float>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const double>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const std::int16_t>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const std::int32_t>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const std::int64_t>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const std::uint8_t>);

}  // namespace isobar::hdf5
