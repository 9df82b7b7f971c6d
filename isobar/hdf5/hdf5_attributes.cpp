// Hdf5File: attributes. Texts have variable length; their size is checked against the file's before allocating memory.
#include <algorithm>
#include <memory>

#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"
#include "isobar/hdf5/hdf5_types.hpp"

namespace isobar::hdf5 {
namespace {

std::string quoted(std::string_view object, std::string_view key) { return fmt::format("{}' of '{}", key, object); }

}  // namespace

bool Hdf5File::has_attribute(std::string_view object, std::string_view key) const {
  const auto lock = lock_hdf5();
  return linked(object) &&
         checked(H5Aexists_by_name(file_, std::string(object).c_str(), std::string(key).c_str(), H5P_DEFAULT),
                 "look for attribute", quoted(object, key)) > 0;
}

void Hdf5File::write_attribute(std::string_view object, std::string_view key, Id type, const void* value) {
  const std::string name = quoted(object, key);
  const Handle space(checked(H5Screate(H5S_SCALAR), "make attribute", name), H5Sclose);
  const Handle attribute(checked(H5Acreate_by_name(file_, std::string(object).c_str(), std::string(key).c_str(), type,
                                                   space.id, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                 "make attribute", name),
                         H5Aclose);
  checked(H5Awrite(attribute.id, type, value), "write attribute", name);
}

Hdf5File::Handle Hdf5File::open_attribute(std::string_view object, std::string_view key) const {
  if (!linked(object)) fail("{}: there is no '{}' in this file", path_.string(), object);
  const std::string at(object), called(key);
  if (checked(H5Aexists_by_name(file_, at.c_str(), called.c_str(), H5P_DEFAULT), "look for attribute",
              quoted(object, key)) == 0)
    fail("{}: there is no attribute '{}' of '{}' in this file", path_.string(), key, object);
  return {checked(H5Aopen_by_name(file_, at.c_str(), called.c_str(), H5P_DEFAULT, H5P_DEFAULT), "open attribute",
                  quoted(object, key)),
          H5Aclose};
}

std::int64_t Hdf5File::count_values(const Handle& attribute, std::string_view object, std::string_view key) const {
  const std::string name = quoted(object, key);
  const Handle space(checked(H5Aget_space(attribute.id), "read attribute", name), H5Sclose);
  const Handle type(checked(H5Aget_type(attribute.id), "read attribute", name), H5Tclose);
  const std::int64_t count = checked(H5Sget_simple_extent_npoints(space.id), "read attribute", name);
  hsize_t file_bytes = 0;
  checked(H5Fget_filesize(file_, &file_bytes), "read attribute", name);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, H5Tget_size(type.id), &bytes) || (bytes > file_bytes && temporary_.empty()))
    fail("{}: attribute '{}' of '{}' claims more bytes than the file has", path_.string(), key, object);
  return count;
}

void Hdf5File::read_attribute(std::string_view object, std::string_view key, Id type, void* value) const {
  const Handle attribute = open_attribute(object, key);
  if (count_values(attribute, object, key) != 1)
    fail("{}: attribute '{}' of '{}' is not a single value", path_.string(), key, object);
  checked(H5Aread(attribute.id, type, value), "read attribute", quoted(object, key));
}

std::vector<std::string> Hdf5File::attributes(std::string_view object) const {
  const auto lock = lock_hdf5();
  if (!linked(object)) fail("{}: there is no '{}' in this file", path_.string(), object);
  const Handle opened(checked(H5Oopen(file_, std::string(object).c_str(), H5P_DEFAULT), "open", object), H5Oclose);
  std::vector<std::string> names;
  const auto keep = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  checked(H5Aiterate2(opened.id, H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &names), "list the attributes of", object);
  std::ranges::sort(names);
  return names;
}

bool Hdf5File::is_text(std::string_view object, std::string_view key) const {
  const auto lock = lock_hdf5();
  const Handle attribute = open_attribute(object, key);
  const Handle type(checked(H5Aget_type(attribute.id), "read attribute", quoted(object, key)), H5Tclose);
  return H5Tget_class(type.id) == H5T_STRING && count_values(attribute, object, key) == 1;
}

bool Hdf5File::is_numbers(std::string_view object, std::string_view key) const {
  const auto lock = lock_hdf5();
  const Handle attribute = open_attribute(object, key);
  const Handle type(checked(H5Aget_type(attribute.id), "read attribute", quoted(object, key)), H5Tclose);
  return hdf5_number(type.id).stored.kind != files::Stored::Kind::other;
}

std::vector<double> Hdf5File::reals(std::string_view object, std::string_view key) const {
  const auto lock = lock_hdf5();
  const Handle attribute = open_attribute(object, key);
  std::vector<double> values(count_values(attribute, object, key));
  if (!values.empty())
    checked(H5Aread(attribute.id, H5T_NATIVE_DOUBLE, values.data()), "read attribute", quoted(object, key));
  return values;
}

void Hdf5File::set_text(std::string_view object, std::string_view key, std::string_view value) {
  const auto lock = lock_hdf5();
  const Handle type(checked(H5Tcopy(H5T_C_S1), "make attribute", quoted(object, key)), H5Tclose);
  // Variable length: text of any size, kept outside the object's header, which is limited to 64 KB.
  checked(H5Tset_size(type.id, H5T_VARIABLE), "make attribute", quoted(object, key));
  checked(H5Tset_cset(type.id, H5T_CSET_UTF8), "make attribute", quoted(object, key));
  const std::string ended(value);
  const char* begin = ended.c_str();
  write_attribute(object, key, type.id, &begin);
}

void Hdf5File::set_integer(std::string_view object, std::string_view key, std::int64_t value) {
  const auto lock = lock_hdf5();
  write_attribute(object, key, H5T_NATIVE_INT64, &value);
}

void Hdf5File::set_real(std::string_view object, std::string_view key, double value) {
  const auto lock = lock_hdf5();
  write_attribute(object, key, H5T_NATIVE_DOUBLE, &value);
}

std::string Hdf5File::text(std::string_view object, std::string_view key) const {
  const auto lock = lock_hdf5();
  const Handle attribute = open_attribute(object, key);
  const Handle type(checked(H5Aget_type(attribute.id), "read attribute", quoted(object, key)), H5Tclose);
  if (H5Tget_class(type.id) != H5T_STRING) fail("{}: attribute '{}' of '{}' is not text", path_.string(), key, object);
  count_values(attribute, object, key);
  if (H5Tis_variable_str(type.id) > 0) {
    char* held = nullptr;
    read_attribute(object, key, type.id, &held);
    const std::unique_ptr<char, herr_t (*)(void*)> owned(held, H5free_memory);
    return held ? held : "";
  }
  std::string fixed(H5Tget_size(type.id), '\0');
  read_attribute(object, key, type.id, fixed.data());
  return fixed.substr(0, fixed.find('\0'));
}

std::int64_t Hdf5File::integer(std::string_view object, std::string_view key) const {
  const auto lock = lock_hdf5();
  std::int64_t value = 0;
  read_attribute(object, key, H5T_NATIVE_INT64, &value);
  return value;
}

double Hdf5File::real(std::string_view object, std::string_view key) const {
  const auto lock = lock_hdf5();
  double value = 0;
  read_attribute(object, key, H5T_NATIVE_DOUBLE, &value);
  return value;
}

}  // namespace isobar::hdf5
