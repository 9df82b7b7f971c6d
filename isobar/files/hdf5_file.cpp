#include "isobar/files/hdf5_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <type_traits>
#include <unistd.h>
#include <utility>

#include <hdf5.h>

#include "isobar/base/error.hpp"

namespace isobar::files {
namespace {

static_assert(std::is_same_v<hid_t, std::int64_t>, "the header keeps hid_t as int64");

// The first call settles two habits of the library. It would close at exit what is still open, and crashes there when
// a full disk made an earlier close fail; we close everything ourselves. And it would print its error stack; here the
// stack goes into the Error instead.
bool settle_library() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return true;
}

std::unique_lock<std::mutex> lock_library() {
  static std::mutex library;
  std::unique_lock lock(library);
  [[maybe_unused]] static const bool settled = settle_library();
  return lock;
}

// The innermost entry of the error stack says what really happened: "truncated file: eof = 96, ..."; where the system
// refused, only the system's words are kept of it.
std::string innermost_reason() {
  std::string reason;
  const auto keep_first = [](unsigned position, const H5E_error2_t* entry, void* to) -> herr_t {
    if (position == 0 && entry->desc) *static_cast<std::string*>(to) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  H5Eclear2(H5E_DEFAULT);
  if (reason.empty()) return "the HDF5 library gave no reason";
  constexpr std::string_view mark = "error message = '";
  if (const std::size_t at = reason.find(mark); at != std::string::npos) {
    const std::size_t begin = at + mark.size();
    return reason.substr(begin, reason.find('\'', begin) - begin);
  }
  return reason.substr(0, reason.find('\n'));
}

hid_t memory_type(float) { return H5T_NATIVE_FLOAT; }
hid_t memory_type(double) { return H5T_NATIVE_DOUBLE; }
hid_t memory_type(std::int16_t) { return H5T_NATIVE_INT16; }
hid_t memory_type(std::int32_t) { return H5T_NATIVE_INT32; }
hid_t memory_type(std::int64_t) { return H5T_NATIVE_INT64; }
hid_t memory_type(std::uint8_t) { return H5T_NATIVE_UINT8; }

std::string quoted(std::string_view object, std::string_view key) { return fmt::format("{}' of '{}", key, object); }

void sync_to_disk(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags);
  const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) fail("{}: cannot be brought to disk: {}", path.string(), std::strerror(error));
}

}  // namespace

// Owns one library identifier; destroyed under the lock, because the lock is taken before it is made.
struct Hdf5File::Handle {
  Id id;
  herr_t (*close)(hid_t);

  Handle(Id made, herr_t (*closer)(hid_t)) : id(made), close(closer) {}
  Handle(Handle&& other) noexcept : id(std::exchange(other.id, -1)), close(other.close) {}
  ~Handle() {
    if (id >= 0) close(id);
  }
};

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
    const auto lock = lock_library();
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
  const auto lock = lock_library();
  const Id file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) fail("{}: cannot open as an HDF5 file: {}", path.string(), innermost_reason());
  return Hdf5File(path, {}, file);
}

Hdf5File Hdf5File::create(const std::filesystem::path& path) {
  // Process and number keep writers of the same file apart: the last commit wins, none sees half a file.
  static std::atomic<int> number = 0;
  std::filesystem::path temporary = path;
  temporary += fmt::format(".part-{}-{}", getpid(), number++);
  const auto lock = lock_library();
  const Id file = H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) fail("{}: cannot create: {}", path.string(), innermost_reason());
  return Hdf5File(path, std::move(temporary), file);
}

void Hdf5File::commit(bool durable) {
  expects(!temporary_.empty() && file_ >= 0, "a new file that was not yet committed");
  {
    const auto lock = lock_library();
    checked(H5Fflush(file_, H5F_SCOPE_LOCAL), "write", "/");
    checked(H5Fclose(std::exchange(file_, -1)), "close", "/");
  }
  if (durable) sync_to_disk(temporary_, O_RDONLY);
  std::error_code code;
  std::filesystem::rename(temporary_, path_, code);
  if (code) fail("{}: cannot take its place: {}", path_.string(), code.message());
  temporary_.clear();
  if (durable) sync_to_disk(path_.has_parent_path() ? path_.parent_path() : ".", O_RDONLY | O_DIRECTORY);
}

void Hdf5File::fail_call(std::string_view attempt, std::string_view name) const {
  fail("{}: cannot {} '{}': {}", path_.string(), attempt, name, innermost_reason());
}

Hdf5File::Id Hdf5File::checked(Id result, std::string_view attempt, std::string_view name) const {
  if (result < 0) fail_call(attempt, name);
  return result;
}

bool Hdf5File::linked(std::string_view name) const {
  // HDF5 can say whether the last part of a path exists only when the parts before it do.
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = name.find('/', end + 1);
    const std::string part(name.substr(0, end));
    if (part.empty() || part == "/") continue;
    if (checked(H5Lexists(file_, part.c_str(), H5P_DEFAULT), "look for", name) == 0) return false;
  }
  return true;
}

bool Hdf5File::exists(std::string_view name) const {
  const auto lock = lock_library();
  return linked(name);
}

std::vector<std::string> Hdf5File::children(std::string_view group) const {
  const auto lock = lock_library();
  const Handle opened(checked(H5Gopen2(file_, std::string(group).c_str(), H5P_DEFAULT), "open group", group), H5Gclose);
  H5G_info_t info;
  checked(H5Gget_info(opened.id, &info), "list group", group);
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto call = [&](char* to, std::size_t size) {
      return checked(H5Lget_name_by_idx(opened.id, ".", H5_INDEX_NAME, H5_ITER_INC, i, to, size, H5P_DEFAULT),
                     "list group", group);
    };
    std::string name(static_cast<std::size_t>(call(nullptr, 0)), '\0');
    call(name.data(), name.size() + 1);
    names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

Hdf5File::Handle Hdf5File::open_array(std::string_view name) const {
  if (!linked(name)) fail("{}: there is no array '{}' in this file", path_.string(), name);
  return {checked(H5Dopen2(file_, std::string(name).c_str(), H5P_DEFAULT), "open array", name), H5Dclose};
}

Shape Hdf5File::extents(const Handle& array, std::string_view name) const {
  const Handle space(checked(H5Dget_space(array.id), "get the shape of", name), H5Sclose);
  const auto rank = checked(H5Sget_simple_extent_ndims(space.id), "get the shape of", name);
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  checked(H5Sget_simple_extent_dims(space.id, sizes.data(), nullptr), "get the shape of", name);
  return Shape(std::vector<std::int64_t>(sizes.begin(), sizes.end()));
}

Shape Hdf5File::shape(std::string_view name) const {
  const auto lock = lock_library();
  return extents(open_array(name), name);
}

Stored Hdf5File::stored(std::string_view name) const {
  const auto lock = lock_library();
  const Handle array = open_array(name);
  const Handle type(checked(H5Dget_type(array.id), "get the type of", name), H5Tclose);
  Stored stored;
  stored.bytes = static_cast<int>(H5Tget_size(type.id));
  const H5T_class_t kind = H5Tget_class(type.id);
  if (kind == H5T_INTEGER) stored = {Stored::Kind::whole, stored.bytes, H5Tget_sign(type.id) == H5T_SGN_2};
  if (kind == H5T_FLOAT) stored = {Stored::Kind::real, stored.bytes, true};
  return stored;
}

template <class T>
void Hdf5File::read(std::string_view name, std::span<T> out) const {
  const auto lock = lock_library();
  const Handle array = open_array(name);
  const Shape shape = extents(array, name);
  if (shape.count() != static_cast<std::int64_t>(out.size()))
    fail("{}: '{}' holds {} numbers ({}), {} were expected", path_.string(), name, shape.count(), shape.str(),
         out.size());
  if (out.empty()) return;
  checked(H5Dread(array.id, memory_type(T{}), H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), "read", name);
}

template <class T>
void Hdf5File::read_rows(std::string_view name, std::int64_t first, std::int64_t count, std::span<T> out) const {
  const auto lock = lock_library();
  const Handle array = open_array(name);
  const Shape shape = extents(array, name);
  if (shape.rank() == 0 || first < 0 || count < 0 || first + count > shape[0])
    fail("{}: '{}' ({}) has no rows {} to {}", path_.string(), name, shape.str(), first, first + count - 1);
  const std::int64_t numbers = count * shape.count(1, shape.rank());
  expects(numbers == static_cast<std::int64_t>(out.size()), "memory of the rows' size");
  if (numbers == 0) return;
  std::vector<hsize_t> from(static_cast<std::size_t>(shape.rank()), 0);
  std::vector<hsize_t> extent(shape.extents().begin(), shape.extents().end());
  from[0] = static_cast<hsize_t>(first);
  extent[0] = static_cast<hsize_t>(count);
  const Handle part(checked(H5Dget_space(array.id), "get the shape of", name), H5Sclose);
  checked(H5Sselect_hyperslab(part.id, H5S_SELECT_SET, from.data(), nullptr, extent.data(), nullptr), "select rows of",
          name);
  const auto flat = static_cast<hsize_t>(numbers);
  const Handle memory(checked(H5Screate_simple(1, &flat, nullptr), "select rows of", name), H5Sclose);
  checked(H5Dread(array.id, memory_type(T{}), memory.id, part.id, H5P_DEFAULT, out.data()), "read", name);
}

void Hdf5File::make_group(std::string_view name) {
  const auto lock = lock_library();
  if (linked(name)) return;
  const Handle links(checked(H5Pcreate(H5P_LINK_CREATE), "make group", name), H5Pclose);
  checked(H5Pset_create_intermediate_group(links.id, 1), "make group", name);
  const Handle group(
      checked(H5Gcreate2(file_, std::string(name).c_str(), links.id, H5P_DEFAULT, H5P_DEFAULT), "make group", name),
      H5Gclose);
}

template <class T>
void Hdf5File::write(std::string_view name, const Shape& shape, std::span<const T> values) {
  expects(shape.count() == static_cast<std::int64_t>(values.size()), "as many values as the shape says");
  const auto lock = lock_library();
  const Handle links(checked(H5Pcreate(H5P_LINK_CREATE), "make array", name), H5Pclose);
  checked(H5Pset_create_intermediate_group(links.id, 1), "make array", name);
  const std::vector<hsize_t> sizes(shape.extents().begin(), shape.extents().end());
  const Handle space(checked(sizes.empty() ? H5Screate(H5S_SCALAR)
                                           : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                             "make array", name),
                     H5Sclose);
  const Handle array(checked(H5Dcreate2(file_, std::string(name).c_str(), memory_type(T{}), space.id, links.id,
                                        H5P_DEFAULT, H5P_DEFAULT),
                             "make array", name),
                     H5Dclose);
  if (values.empty()) return;
  checked(H5Dwrite(array.id, memory_type(T{}), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write", name);
}

bool Hdf5File::has_attribute(std::string_view object, std::string_view key) const {
  const auto lock = lock_library();
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

void Hdf5File::read_attribute(std::string_view object, std::string_view key, Id type, void* value) const {
  const Handle attribute = open_attribute(object, key);
  const Handle space(checked(H5Aget_space(attribute.id), "read attribute", quoted(object, key)), H5Sclose);
  if (H5Sget_simple_extent_npoints(space.id) != 1)
    fail("{}: attribute '{}' of '{}' is not a single value", path_.string(), key, object);
  checked(H5Aread(attribute.id, type, value), "read attribute", quoted(object, key));
}

void Hdf5File::set_text(std::string_view object, std::string_view key, std::string_view value) {
  const auto lock = lock_library();
  const Handle type(checked(H5Tcopy(H5T_C_S1), "make attribute", quoted(object, key)), H5Tclose);
  // Variable length: text of any size, kept outside the object's header, which is limited to 64 KB.
  checked(H5Tset_size(type.id, H5T_VARIABLE), "make attribute", quoted(object, key));
  checked(H5Tset_cset(type.id, H5T_CSET_UTF8), "make attribute", quoted(object, key));
  const std::string ended(value);
  const char* begin = ended.c_str();
  write_attribute(object, key, type.id, &begin);
}

void Hdf5File::set_integer(std::string_view object, std::string_view key, std::int64_t value) {
  const auto lock = lock_library();
  write_attribute(object, key, H5T_NATIVE_INT64, &value);
}

void Hdf5File::set_real(std::string_view object, std::string_view key, double value) {
  const auto lock = lock_library();
  write_attribute(object, key, H5T_NATIVE_DOUBLE, &value);
}

std::string Hdf5File::text(std::string_view object, std::string_view key) const {
  const auto lock = lock_library();
  const Handle attribute = open_attribute(object, key);
  const Handle type(checked(H5Aget_type(attribute.id), "read attribute", quoted(object, key)), H5Tclose);
  if (H5Tget_class(type.id) != H5T_STRING) fail("{}: attribute '{}' of '{}' is not text", path_.string(), key, object);
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
  const auto lock = lock_library();
  std::int64_t value = 0;
  read_attribute(object, key, H5T_NATIVE_INT64, &value);
  return value;
}

double Hdf5File::real(std::string_view object, std::string_view key) const {
  const auto lock = lock_library();
  double value = 0;
  read_attribute(object, key, H5T_NATIVE_DOUBLE, &value);
  return value;
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
template void Hdf5File::write(std::string_view, const Shape&, std::span<const float>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const double>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const std::int16_t>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const std::int32_t>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const std::int64_t>);
template void Hdf5File::write(std::string_view, const Shape&, std::span<const std::uint8_t>);

}  // namespace isobar::files
