#include "isobar/hdf5/hdf5_file.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <unistd.h>
#include <utility>

#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/disk/durable_file.hpp"
#include "isobar/hdf5/hdf5_driver.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"
#include "isobar/hdf5/hdf5_types.hpp"

namespace isobar::hdf5 {
Hdf5File::Hdf5File(std::filesystem::path path, std::filesystem::path temporary, Id file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)), file_(std::exchange(other.file_, -1)) {
  other.temporary_.clear();
}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(file_, other.file_);
  return *this;
}

Hdf5File::~Hdf5File() { discard(); }

void Hdf5File::discard() noexcept {
  if (file_ >= 0) {
    const auto lock = lock_hdf5();
    H5Fclose(std::exchange(file_, -1));
  }
  if (!temporary_.empty()) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    temporary_.clear();
  }
}

Hdf5File Hdf5File::open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) fail("{}: cannot open: there is no such file", path.string());
  if (std::filesystem::is_directory(path, ignored))
    fail("{}: cannot open: it is a folder, not an HDF5 file", path.string());
  const auto lock = lock_hdf5();
  return Hdf5File(path, {}, open_hdf5(path));
}

Hdf5File Hdf5File::open(files::InputFile file) {
  const auto lock = lock_hdf5();
  return Hdf5File(file.path(), {}, open_hdf5(file.path(), file.release()));
}

Hdf5File Hdf5File::create(const std::filesystem::path& path) {
  // Process id and number keep writers of the same file apart: the last commit wins, and nobody sees half a file.
  static std::atomic<int> number = 0;
  std::filesystem::path temporary = path;
  temporary += fmt::format(".part-{}-{}", getpid(), number++);
  const auto lock = lock_hdf5();
  const Id file = H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) fail("{}: cannot create: {}", path.string(), hdf5_reason());
  return Hdf5File(path, std::move(temporary), file);
}

void Hdf5File::commit(bool durable) {
  expects(!temporary_.empty() && file_ >= 0, "a new file that was not yet committed");
  {
    const auto lock = lock_hdf5();
    checked(H5Fflush(file_, H5F_SCOPE_LOCAL), "write", "/");
    checked(H5Fclose(std::exchange(file_, -1)), "close", "/");
  }
  if (durable) disk::sync_to_disk(temporary_);
  std::error_code code;
  std::filesystem::rename(temporary_, path_, code);
  if (code) fail("{}: cannot be moved into place: {}", path_.string(), code.message());
  temporary_.clear();
  if (durable) disk::sync_to_disk(path_.has_parent_path() ? path_.parent_path() : ".");
}

bool Hdf5File::linked(std::string_view name) const {
  // HDF5 can check the last part of a path only if the parts before it exist.
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = name.find('/', end + 1);
    const std::string part(name.substr(0, end));
    if (part.empty() || part == "/") continue;
    if (checked(H5Lexists(file_, part.c_str(), H5P_DEFAULT), "look for", name) == 0) return false;
  }
  return true;
}

bool Hdf5File::exists(std::string_view name) const {
  const auto lock = lock_hdf5();
  return linked(name);
}

std::vector<std::string> Hdf5File::children(std::string_view group) const {
  const auto lock = lock_hdf5();
  const Handle opened(checked(H5Gopen2(file_, std::string(group).c_str(), H5P_DEFAULT), "open group", group), H5Gclose);
  std::vector<std::string> names;
  const auto keep = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  checked(H5Literate(opened.id, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep, &names), "list group", group);
  std::ranges::sort(names);
  return names;
}

Hdf5File::Handle Hdf5File::open_array(std::string_view name) const {
  if (!linked(name)) fail("{}: there is no array '{}' in this file", path_.string(), name);
  // No chunk cache: in it, a chunk that was never written would seem to have a place in the file.
  const Handle access(checked(H5Pcreate(H5P_DATASET_ACCESS), "open array", name), H5Pclose);
  checked(H5Pset_chunk_cache(access.id, 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT), "open array", name);
  return {checked(H5Dopen2(file_, std::string(name).c_str(), access.id), "open array", name), H5Dclose};
}

Shape Hdf5File::extents(const Handle& array, std::string_view name) const {
  const Handle space(checked(H5Dget_space(array.id), "get the shape of", name), H5Sclose);
  if (H5Sget_simple_extent_type(space.id) == H5S_NULL) return Shape{0};
  const auto rank = checked(H5Sget_simple_extent_ndims(space.id), "get the shape of", name);
  std::vector<hsize_t> sizes(rank);
  checked(H5Sget_simple_extent_dims(space.id, sizes.data(), nullptr), "get the shape of", name);
  // Products of these, also with the bytes of a number, must not overflow.
  std::int64_t product = 16;
  for (const hsize_t size : sizes)
    if (size > static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max()) ||
        __builtin_mul_overflow(product, std::max<std::int64_t>(1, static_cast<std::int64_t>(size)), &product))
      fail("{}: '{}' has shape {}: more numbers than any file holds", path_.string(), name, fmt::join(sizes, "x"));
  return Shape(std::vector<std::int64_t>(sizes.begin(), sizes.end()));
}

Shape Hdf5File::shape(std::string_view name) const {
  const auto lock = lock_hdf5();
  return extents(open_array(name), name);
}

files::Stored Hdf5File::stored(std::string_view name) const {
  const auto lock = lock_hdf5();
  const Handle array = open_array(name);
  const Handle type(checked(H5Dget_type(array.id), "get the type of", name), H5Tclose);
  return hdf5_number(type.id).stored;
}

std::string Hdf5File::type_name(std::string_view name) const {
  const auto lock = lock_hdf5();
  const Handle array = open_array(name);
  const Handle type(checked(H5Dget_type(array.id), "get the type of", name), H5Tclose);
  return hdf5_type_name(type.id);
}

Hdf5Kind Hdf5File::kind(std::string_view name) const {
  const auto lock = lock_hdf5();
  const Handle object(H5Oopen(file_, std::string(name).c_str(), H5P_DEFAULT), H5Oclose);
  H5Eclear2(H5E_DEFAULT);
  if (object.id < 0) return Hdf5Kind::other;
  const H5I_type_t type = H5Iget_type(object.id);
  return type == H5I_GROUP ? Hdf5Kind::group : type == H5I_DATASET ? Hdf5Kind::array : Hdf5Kind::other;
}

std::pair<std::uint64_t, std::uint64_t> Hdf5File::identity(std::string_view name) const {
  const auto lock = lock_hdf5();
  H5O_info_t info;
  checked(H5Oget_info_by_name2(file_, std::string(name).c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), "open", name);
  return {info.fileno, info.addr};
}

}  // namespace isobar::hdf5
