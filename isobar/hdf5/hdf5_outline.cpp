#include "isobar/hdf5/hdf5_outline.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/hdf5_library.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"
#include "isobar/hdf5/hdf5_memory.hpp"

namespace isobar::hdf5 {
namespace {

class Maker {
 public:
  Maker(const Hdf5Memory& memory, std::int64_t user_block) {
    const Hdf5Handle creation(checked(H5Pcreate(H5P_FILE_CREATE), "begin", "/"), H5Pclose);
    const Hdf5Handle access = memory.access();
    checked(H5Pset_userblock(creation.id, user_block), "begin", "/");
    file_ = {checked(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation.id, access.id), "create", "/"), H5Fclose};
  }

  /// Makes an array that is allocated at once and never filled; returns its offset.
  std::int64_t add(const OutlinedArray& array) {
    const Hdf5Handle links(checked(H5Pcreate(H5P_LINK_CREATE), "make array", array.name), H5Pclose);
    checked(H5Pset_create_intermediate_group(links.id, 1), "make array", array.name);
    const Hdf5Handle creation(checked(H5Pcreate(H5P_DATASET_CREATE), "make array", array.name), H5Pclose);
    checked(H5Pset_layout(creation.id, H5D_CONTIGUOUS), "make array", array.name);
    checked(H5Pset_alloc_time(creation.id, H5D_ALLOC_TIME_EARLY), "make array", array.name);
    checked(H5Pset_fill_time(creation.id, H5D_FILL_TIME_NEVER), "make array", array.name);
    const Hdf5Handle type = type_of(array), space = space_of(array);
    const Hdf5Handle made(
        checked(H5Dcreate2(file_.id, array.name.c_str(), type.id, space.id, links.id, creation.id, H5P_DEFAULT),
                "make array", array.name),
        H5Dclose);
    const haddr_t offset = H5Dget_offset(made.id);
    if (offset == HADDR_UNDEF) fail_hdf5(path_, "find the place of", array.name);
    return static_cast<std::int64_t>(offset);
  }

  void add(const OutlinedAttribute& attribute) {
    const Hdf5Handle space(checked(H5Screate(H5S_SCALAR), "make attribute", attribute.first), H5Sclose);
    const auto write = [&](Hdf5Id type, const void* value) {
      const Hdf5Handle made(
          checked(H5Acreate2(file_.id, attribute.first.c_str(), type, space.id, H5P_DEFAULT, H5P_DEFAULT),
                  "make attribute", attribute.first),
          H5Aclose);
      checked(H5Awrite(made.id, type, value), "write attribute", attribute.first);
    };
    if (const auto* integer = std::get_if<std::int64_t>(&attribute.second)) write(H5T_STD_I64LE, integer);
    if (const auto* real = std::get_if<double>(&attribute.second)) write(H5T_IEEE_F64LE, real);
    if (const auto* text = std::get_if<std::string>(&attribute.second)) {
      const Hdf5Handle type = text_type(text->size() + 1, attribute.first);
      write(type.id, text->c_str());
    }
  }

  void close() { checked(H5Fclose(std::exchange(file_.id, -1)), "close", "/"); }

 private:
  Hdf5Id checked(Hdf5Id result, std::string_view attempt, std::string_view name) const {
    return checked_hdf5(result, path_, attempt, name);
  }
  Hdf5Handle text_type(std::size_t bytes, const std::string& name) const {
    Hdf5Handle type(checked(H5Tcopy(H5T_C_S1), "make text", name), H5Tclose);
    checked(H5Tset_size(type.id, bytes), "make text", name);
    checked(H5Tset_strpad(type.id, H5T_STR_NULLPAD), "make text", name);
    checked(H5Tset_cset(type.id, H5T_CSET_UTF8), "make text", name);
    return type;
  }
  Hdf5Handle type_of(const OutlinedArray& array) const {
    if (array.text) return text_type(array.shape.count(), array.name);
    expects(array.type == files::NumberType::float32 || array.type == files::NumberType::float64,
            "floats, doubles or text");
    const Hdf5Id known = array.type == files::NumberType::float32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    return {checked(H5Tcopy(known), "make array", array.name), H5Tclose};
  }
  Hdf5Handle space_of(const OutlinedArray& array) const {
    if (array.text || array.shape.rank() == 0)
      return {checked(H5Screate(H5S_SCALAR), "make array", array.name), H5Sclose};
    const std::vector<hsize_t> sizes(array.shape.extents().begin(), array.shape.extents().end());
    return {checked(H5Screate_simple(array.shape.rank(), sizes.data(), nullptr), "make array", array.name), H5Sclose};
  }

  const std::string path_ = "outline of a file";
  Hdf5Handle file_;
};

}  // namespace

Hdf5Outline outline_hdf5(std::span<const OutlinedArray> arrays, std::span<const OutlinedAttribute> attributes,
                         std::int64_t user_block) {
  const auto lock = lock_hdf5();
  Hdf5Memory made;
  Hdf5Outline outline;
  Maker maker(made, user_block);
  for (const OutlinedArray& array : arrays) {
    expects(array.bytes() > 0, "arrays with something in them");
    outline.offsets.push_back(maker.add(array));
  }
  for (const OutlinedAttribute& attribute : attributes) maker.add(attribute);
  maker.close();
  outline.bytes = made.size();
  std::vector<std::size_t> order(arrays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return outline.offsets[i]; });
  std::int64_t at = user_block;
  const auto take_until = [&](std::int64_t end) {
    expects(end >= at, "arrays that do not overlap");
    if (end == at) return;
    Hdf5Outline::Piece& piece = outline.pieces.emplace_back(
        Hdf5Outline::Piece{at, std::vector<std::uint8_t>(static_cast<std::size_t>(end - at))});
    made.read(at, piece.bytes);
  };
  for (const std::size_t i : order) {
    take_until(outline.offsets[i]);
    at = outline.offsets[i] + arrays[i].bytes();
  }
  take_until(outline.bytes);
  return outline;
}

}  // namespace isobar::hdf5
