// HDF5 files for tests of the readers, in every kind of storage; made by the library itself, with which the readers are
// also compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <hdf5.h>

#include "isobar/hdf5/hdf5_lock.hpp"

namespace isobar::tests {

/// How an array is to be stored.
struct MadeArray {
  std::string name = "x";
  std::vector<hsize_t> shape{};
  hid_t type = -1;               ///< -1: native float
  std::vector<hsize_t> chunk{};  ///< empty: contiguous
  std::string filters{};         ///< in this order: s(huffle), g(zip), f(letcher32), n(bit), o (scale-offset)
  std::size_t unlimited = 0;     ///< how many axes, from the first on, may grow
  bool compact = false, plain_edges = false, written = true;
  bool early = false;  ///< all chunks are allocated at once
  double fill = 0;     ///< of numbers that are not written
  hsize_t rows = 0;    ///< write only the first rows; 0: all
};

struct MadeFile {
  bool latest = false;     ///< the newest format: other chunk indices
  hsize_t user_block = 0;  ///< bytes before HDF5 begins
  bool extended = false;   ///< a superblock with an extension, if the format has one
};

inline hid_t made(hid_t result) {
  if (result < 0) throw std::runtime_error("a test file cannot be made");
  return result;
}

/// An IEEE half float.
inline hid_t half_type(bool big_endian) {
  const hid_t type = made(H5Tcopy(big_endian ? H5T_IEEE_F32BE : H5T_IEEE_F32LE));
  made(H5Tset_fields(type, 15, 10, 5, 0, 10));
  made(H5Tset_size(type, 2));
  made(H5Tset_ebias(type, 15));
  return type;
}

inline void write_array(hid_t file, const MadeArray& array, const std::vector<double>& values) {
  const auto rank = static_cast<int>(array.shape.size());
  std::vector<hsize_t> most = array.shape;
  for (std::size_t a = 0; a < array.unlimited; ++a) most[a] = H5S_UNLIMITED;
  const hid_t space = made(rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, array.shape.data(), most.data()));
  const hid_t properties = made(H5Pcreate(H5P_DATASET_CREATE)), links = made(H5Pcreate(H5P_LINK_CREATE));
  made(H5Pset_create_intermediate_group(links, 1));
  if (array.compact) made(H5Pset_layout(properties, H5D_COMPACT));
  if (!array.chunk.empty()) made(H5Pset_chunk(properties, rank, array.chunk.data()));
  if (array.early) made(H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY));
  if (array.plain_edges) made(H5Pset_chunk_opts(properties, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
  for (const char filter : array.filters) {
    if (filter == 's') made(H5Pset_shuffle(properties));
    if (filter == 'g') made(H5Pset_deflate(properties, 4));
    if (filter == 'f') made(H5Pset_fletcher32(properties));
    if (filter == 'n') made(H5Pset_nbit(properties));
    if (filter == 'o') made(H5Pset_scaleoffset(properties, H5Z_SO_INT, 0));
  }
  if (array.fill != 0) made(H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &array.fill));
  const hid_t type = array.type < 0 ? H5T_NATIVE_FLOAT : array.type;
  const hid_t made_array = made(H5Dcreate2(file, array.name.c_str(), type, space, links, properties, H5P_DEFAULT));
  if (array.written && array.rows > 0) {
    std::vector<hsize_t> from(array.shape.size(), 0), extent = array.shape;
    extent[0] = array.rows;
    made(H5Sselect_hyperslab(space, H5S_SELECT_SET, from.data(), nullptr, extent.data(), nullptr));
    const hid_t memory = made(H5Screate_simple(rank, extent.data(), nullptr));
    made(H5Dwrite(made_array, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data()));
    H5Sclose(memory);
  } else if (array.written && !values.empty()) {
    made(H5Dwrite(made_array, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  }
  H5Dclose(made_array);
  H5Pclose(properties);
  H5Pclose(links);
  H5Sclose(space);
}

/// A file of arrays; fill_file(id) writes them, with write_array or directly.
template <class Fill>
void write_hdf5(const std::filesystem::path& path, const MadeFile& how, Fill fill_file) {
  const auto lock = hdf5::lock_hdf5();
  const hid_t creation = made(H5Pcreate(H5P_FILE_CREATE)), access = made(H5Pcreate(H5P_FILE_ACCESS));
  if (how.user_block > 0) made(H5Pset_userblock(creation, how.user_block));
  if (how.extended) made(H5Pset_istore_k(creation, 5));
  if (how.latest) made(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
  const hid_t file = made(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access));
  fill_file(file);
  made(H5Fclose(file));
  H5Pclose(creation);
  H5Pclose(access);
}

/// Numbers small enough for any type, each different from its neighbours along every axis.
inline std::vector<double> any_numbers(const std::vector<hsize_t>& shape, bool negative) {
  std::size_t count = 1;
  for (const hsize_t n : shape) count *= n;
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i * 37 % 101) - (negative ? 50.0 : 0.0);
  return values;
}

}  // namespace isobar::tests
