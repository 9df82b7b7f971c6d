#include "isobar/hdf5/netcdf4_objects.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/hdf5/hdf5_library.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"
#include "isobar/hdf5/hdf5_types.hpp"

namespace isobar::hdf5 {
namespace {

constexpr int deepest_group = 32;
constexpr std::size_t longest_attribute = std::size_t{1} << 24;  // bytes; text of variable length is checked by HDF5

// The number of a dimension; -1 if invalid.
std::int64_t dimension_number(double number) {
  return number >= 0 && number < 1e9 ? static_cast<std::int64_t>(number) : -1;
}

std::string netcdf_type(hid_t type, const files::Stored& stored) {
  if (H5Tget_class(type) == H5T_STRING)
    return H5Tis_variable_str(type) > 0 || H5Tget_size(type) > 1 ? "string" : "char";
  if (H5Tget_class(type) == H5T_ENUM) return hdf5_type_name(type);
  if (stored.kind == files::Stored::Kind::whole) {
    switch (stored.bytes) {
      case 1: return stored.is_signed ? "byte" : "ubyte";
      case 2: return stored.is_signed ? "short" : "ushort";
      case 4: return stored.is_signed ? "int" : "uint";
      case 8: return stored.is_signed ? "int64" : "uint64";
    }
  }
  if (stored.kind == files::Stored::Kind::real && stored.bytes == 4) return "float";
  if (stored.kind == files::Stored::Kind::real && stored.bytes == 8) return "double";
  return hdf5_type_name(type);
}

std::string storage_name(hid_t array, std::size_t rank) {
  const Hdf5Handle made(H5Dget_create_plist(array), H5Pclose);
  if (made.id < 0 || H5Pget_layout(made.id) != H5D_CHUNKED) return "";
  std::vector<hsize_t> chunk(rank, 0);
  if (H5Pget_chunk(made.id, rank, chunk.data()) < 0) return "";
  std::string text = "chunks of [";
  for (std::size_t a = 0; a < rank; ++a) text += fmt::format("{}{}", a > 0 ? ", " : "", chunk[a]);
  text += "]";
  const int filters = H5Pget_nfilters(made.id);
  for (int f = 0; f < filters; ++f) {
    unsigned flags = 0, settings = 0;
    std::size_t count = 0;
    char name[64] = "";
    const H5Z_filter_t filter = H5Pget_filter2(made.id, f, &flags, &count, nullptr, sizeof(name), name, &settings);
    if (filter == H5Z_FILTER_DEFLATE) text += ", gzip";
    else if (filter == H5Z_FILTER_SHUFFLE) text += ", shuffle";
    else if (filter == H5Z_FILTER_FLETCHER32) text += ", fletcher32";
    else text += fmt::format(", filter {}", static_cast<int>(filter));
  }
  return text;
}

class ObjectWalk {
 public:
  ObjectWalk(const std::filesystem::path& path, hid_t file) : path_(path), file_(file) {}

  void group(const std::string& name, int depth) {
    const Hdf5Handle opened(checked(H5Gopen2(file_, name.c_str(), H5P_DEFAULT), "open group", name), H5Gclose);
    if (depth > deepest_group) fail("{}: groups are nested more than {} deep", path_.string(), deepest_group);
    if (!seen_.insert(address(opened.id, name)).second) return;
    unsigned order = 0;
    const Hdf5Handle made(H5Gget_create_plist(opened.id), H5Pclose);
    const bool ordered =
        made.id >= 0 && H5Pget_link_creation_order(made.id, &order) >= 0 && (order & H5P_CRT_ORDER_INDEXED);
    std::vector<std::string> links;
    const auto keep = [](hid_t, const char* link, const H5L_info_t* info, void* to) -> herr_t {
      if (info->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(to)->emplace_back(link);
      return 0;
    };
    checked(H5Literate(opened.id, ordered ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &links),
            "list group", name);
    for (const std::string& link : links) {
      const std::string inside = name == "/" ? link : name + "/" + link;
      const Hdf5Handle object(checked(H5Oopen(file_, inside.c_str(), H5P_DEFAULT), "open", inside), H5Oclose);
      const H5I_type_t kind = H5Iget_type(object.id);
      if (kind == H5I_GROUP) group(inside, depth + 1);
      if (kind == H5I_DATASET) array(object.id, inside);
    }
  }

  std::vector<NetcdfAttribute> attributes(hid_t object, const std::string& name, Netcdf4Object* told = nullptr) {
    std::vector<std::string> keys;
    const auto keep = [](hid_t, const char* key, const H5A_info_t*, void* to) -> herr_t {
      static_cast<std::vector<std::string>*>(to)->emplace_back(key);
      return 0;
    };
    if (H5Aiterate2(object, H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, keep, &keys) < 0) {
      keys.clear();
      checked(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, keep, &keys), "list the attributes of", name);
    }
    std::vector<NetcdfAttribute> found;
    for (const std::string& key : keys) {
      const std::string subject = fmt::format("{}' of '{}", key, name);
      const Hdf5Handle opened(checked(H5Aopen(object, key.c_str(), H5P_DEFAULT), "open attribute", subject), H5Aclose);
      if (told && key == "REFERENCE_LIST") told->users = references(opened.id, subject);
      if (key == "REFERENCE_LIST" || key == "DIMENSION_LIST" || key == "DIMENSION_LABELS") continue;
      NetcdfAttribute attribute = value(opened.id, key, subject);
      if (told && key == "CLASS") told->is_dimension = attribute.text == "DIMENSION_SCALE";
      else if (told && key == "NAME")
        told->is_variable = !attribute.text.starts_with("This is a netCDF dimension but not a netCDF variable");
      else if (told && key == "_Netcdf4Dimid" && attribute.numbers.size() == 1)
        told->dimension_number = dimension_number(attribute.numbers[0]);
      else if (told && key == "_Netcdf4Coordinates")
        std::ranges::transform(attribute.numbers, std::back_inserter(told->coordinates), dimension_number);
      else if (key != "_NCProperties" && key != "_nc3_strict") found.push_back(std::move(attribute));
    }
    return found;
  }

  std::vector<Netcdf4Object> objects;

 private:
  Hdf5Id checked(Hdf5Id result, std::string_view attempt, std::string_view name) const {
    return checked_hdf5(result, path_, attempt, one_line(name));
  }

  std::uint64_t address(hid_t object, const std::string& name) const {
    H5O_info_t info;
    checked(H5Oget_info2(object, &info, H5O_INFO_BASIC), "look at", name);
    return info.addr;
  }

  void array(hid_t id, const std::string& name) {
    Netcdf4Object made{.path = name, .address = address(id, name)};
    const Hdf5Handle space(checked(H5Dget_space(id), "get the shape of", name), H5Sclose);
    if (H5Sget_simple_extent_type(space.id) == H5S_NULL) return;
    const std::size_t rank = checked(H5Sget_simple_extent_ndims(space.id), "get the shape of", name);
    std::vector<hsize_t> sizes(rank), limits(rank);
    checked(H5Sget_simple_extent_dims(space.id, sizes.data(), limits.data()), "get the shape of", name);
    for (std::size_t a = 0; a < rank; ++a) {
      if (sizes[a] > static_cast<hsize_t>(INT64_MAX))
        fail("{}: '{}' claims {} entries along an axis", path_.string(), one_line(name), sizes[a]);
      made.extents.push_back(sizes[a]);
      made.unlimited.push_back(limits[a] == H5S_UNLIMITED);
    }
    const Hdf5Handle type(checked(H5Dget_type(id), "get the type of", name), H5Tclose);
    made.stored = hdf5_number(type.id).stored;
    made.type = netcdf_type(type.id, made.stored);
    made.storage = storage_name(id, rank);
    made.attributes = attributes(id, name, &made);
    if (!made.is_dimension) made.is_variable = true;
    objects.push_back(std::move(made));
  }

  std::size_t value_bytes(hid_t attribute, hid_t type, std::size_t& count, const std::string& subject) const {
    const Hdf5Handle space(checked(H5Aget_space(attribute), "read attribute", subject), H5Sclose);
    count = checked(H5Sget_simple_extent_npoints(space.id), "read attribute", subject);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, H5Tget_size(type), &bytes) || bytes > longest_attribute)
      fail("{}: attribute '{}' claims more than {} bytes", path_.string(), one_line(subject), longest_attribute);
    return bytes;
  }

  NetcdfAttribute value(hid_t attribute, const std::string& key, const std::string& subject) const {
    const Hdf5Handle type(checked(H5Aget_type(attribute), "read attribute", subject), H5Tclose);
    std::size_t count = 0;
    const std::size_t bytes = value_bytes(attribute, type.id, count, subject);
    NetcdfAttribute made{.name = key};
    made.stored = hdf5_number(type.id).stored;
    made.type = netcdf_type(type.id, made.stored);
    if (made.stored.kind != files::Stored::Kind::other) {
      made.numbers.resize(count);
      if (count > 0) checked(H5Aread(attribute, H5T_NATIVE_DOUBLE, made.numbers.data()), "read attribute", subject);
    } else if (H5Tget_class(type.id) == H5T_STRING && count > 0) {
      H5Tis_variable_str(type.id) > 0 ? read_texts(attribute, type.id, count, subject, made.text)
                                      : read_text(attribute, type.id, bytes, subject, made.text);
    }
    return made;
  }

  void read_text(hid_t attribute, hid_t type, std::size_t bytes, const std::string& subject, std::string& to) const {
    to.resize(bytes);
    checked(H5Aread(attribute, type, to.data()), "read attribute", subject);
    to.resize(std::min(to.find('\0'), to.size()));
  }

  // Several texts become one, separated by commas.
  void read_texts(hid_t attribute, hid_t type, std::size_t count, const std::string& subject, std::string& to) const {
    std::vector<char*> texts(count, nullptr);
    checked(H5Aread(attribute, type, texts.data()), "read attribute", subject);
    for (std::size_t i = 0; i < count; ++i) to += (i > 0 ? ", " : "") + std::string(texts[i] ? texts[i] : "");
    const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
    H5Dvlen_reclaim(type, space.id, H5P_DEFAULT, texts.data());
  }

  // Which arrays use a dimension, and for which axis. DIMENSION_LIST says the same from the other side, but in lists of
  // variable length, and the library crashes on damaged ones. A reference to an object is its address.
  std::vector<std::pair<std::uint64_t, std::int64_t>> references(hid_t attribute, const std::string& subject) const {
    struct User {
      hobj_ref_t array;
      int axis;
    };
    const Hdf5Handle type(checked(H5Aget_type(attribute), "read attribute", subject), H5Tclose);
    std::size_t count = 0;
    value_bytes(attribute, type.id, count, subject);
    if (H5Tget_class(type.id) != H5T_COMPOUND || H5Tget_nmembers(type.id) != 2 ||
        H5Tget_member_class(type.id, 0) != H5T_REFERENCE || H5Tget_member_class(type.id, 1) != H5T_INTEGER)
      return {};
    const Hdf5Handle memory(checked(H5Tcreate(H5T_COMPOUND, sizeof(User)), "read attribute", subject), H5Tclose);
    for (unsigned member = 0; member < 2; ++member) {
      char* const name = H5Tget_member_name(type.id, member);
      const bool array = member == 0;
      const herr_t added = name ? H5Tinsert(memory.id, name, array ? HOFFSET(User, array) : HOFFSET(User, axis),
                                            array ? H5T_STD_REF_OBJ : H5T_NATIVE_INT)
                                : -1;
      H5free_memory(name);
      checked(added, "read attribute", subject);
    }
    std::vector<User> read(count);
    if (count > 0) checked(H5Aread(attribute, memory.id, read.data()), "read attribute", subject);
    std::vector<std::pair<std::uint64_t, std::int64_t>> users;
    for (const User& user : read) users.emplace_back(user.array, user.axis);
    return users;
  }

  const std::filesystem::path& path_;
  hid_t file_;
  std::set<std::uint64_t> seen_;
};

}  // namespace

std::vector<Netcdf4Object> list_netcdf4(const Hdf5File& file, std::vector<NetcdfAttribute>& attributes) {
  const auto lock = lock_hdf5();
  ObjectWalk walk(file.path(), file.id());
  const Hdf5Handle root(checked_hdf5(H5Gopen2(file.id(), "/", H5P_DEFAULT), file.path(), "open", "/"), H5Gclose);
  attributes = walk.attributes(root.id, "/");
  walk.group("/", 0);
  return std::move(walk.objects);
}

}  // namespace isobar::hdf5
