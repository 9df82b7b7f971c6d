#include "isobar/hdf5/hdf5_driver.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/hdf5_headers.hpp"
#include "isobar/hdf5/hdf5_heap.hpp"

namespace isobar::hdf5 {
namespace {

// Guarded by the library's lock, under which every callback below runs.
Hdf5Probe* probe = nullptr;
int handed_over = -1;  // the descriptor of the file that is opened next; -1: it is opened by its name

struct OpenFile {
  H5FD_t base;  // first: the library sees only this
  int descriptor;
  haddr_t end_of_addresses, end_of_file;
  struct stat identity;
  std::unique_ptr<Hdf5Heaps> heaps;
  std::unique_ptr<Hdf5Headers> headers;
};

const OpenFile& opened(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }

void note(H5E_minor_t what, const char* attempt, const char* reason) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_VFL, what, "%s: error message = '%s'", attempt,
           reason);
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t, haddr_t) {
  if (flags & (H5F_ACC_RDWR | H5F_ACC_CREAT | H5F_ACC_TRUNC)) return nullptr;
  const int descriptor = handed_over >= 0 ? std::exchange(handed_over, -1) : ::open(name, O_RDONLY | O_CLOEXEC);
  struct stat identity;
  if (descriptor < 0 || ::fstat(descriptor, &identity) != 0) {
    note(H5E_CANTOPENFILE, "open", std::strerror(errno));
    if (descriptor >= 0) ::close(descriptor);
    return nullptr;
  }
  auto* made = new (std::nothrow) OpenFile{};
  if (!made) {
    ::close(descriptor);
    return nullptr;
  }
  made->descriptor = descriptor;
  made->end_of_file = identity.st_size;
  made->identity = identity;
  const Hdf5Widths widths = hdf5_widths(descriptor, identity.st_size);
  made->heaps = std::make_unique<Hdf5Heaps>(descriptor, widths);
  made->headers = std::make_unique<Hdf5Headers>(widths);
  return &made->base;
}

herr_t close_file(H5FD_t* file) {
  auto* closed = reinterpret_cast<OpenFile*>(file);
  ::close(closed->descriptor);
  delete closed;
  return 0;
}

int compare_files(const H5FD_t* a, const H5FD_t* b) {
  const struct stat &first = opened(a).identity, &second = opened(b).identity;
  const auto key = [](const struct stat& of) { return std::tuple(of.st_dev, of.st_ino); };
  return key(first) < key(second) ? -1 : key(first) > key(second);
}

// Neither the metadata accumulator nor the sieve for raw data: the page cache does as well, and on damaged files the
// accumulator of 1.10.8 copies beyond its memory.
herr_t query_features(const H5FD_t*, unsigned long* features) {
  if (features)
    *features = H5FD_FEAT_POSIX_COMPAT_HANDLE | H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t end_of_addresses(const H5FD_t* file, H5FD_mem_t) { return opened(file).end_of_addresses; }
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) { return opened(file).end_of_file; }

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  reinterpret_cast<OpenFile*>(file)->end_of_addresses = address;
  return 0;
}

herr_t get_handle(H5FD_t* file, hid_t, void** handle) {
  *handle = &reinterpret_cast<OpenFile*>(file)->descriptor;
  return 0;
}

// An enumeration type begins with version and class 8, its number of members, a zero, and its size; then comes its
// integer type, which begins likewise and must have the same size. If it does not, 1.10.8 copies the members beyond
// their memory: so an object header with such a type is kept from the library.
bool has_broken_enumeration(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::size_t both = 20;
  const auto number = [](const std::uint8_t* at) {
    std::uint32_t value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  for (std::size_t i = 0; i + both <= size; ++i) {
    const std::uint8_t *const outer = bytes + i, *const inner = outer + 8;
    const int version = outer[0] >> 4;
    if ((outer[0] & 15) != 8 || version < 1 || version > 3 || outer[3] != 0) continue;
    if (inner[0] != version << 4 || inner[1] > 15 || inner[2] != 0 || inner[3] != 0) continue;
    const std::uint32_t whole = number(inner + 4), precision = number(inner + 8) >> 16;
    if (whole >= 1 && whole <= 8 && precision <= 8 * whole && number(outer + 4) != whole) return true;
  }
  return false;
}

// Whether the library may see these bytes; if not, the reason goes onto its error stack.
bool sound_piece(const OpenFile& file, H5FD_mem_t kind, haddr_t address, std::span<const std::uint8_t> bytes) {
  Hdf5Heaps& heaps = *file.heaps;
  const auto sound = [&](const Hdf5Reference& reference) { return heaps.sound_reference(reference); };
  const bool block = bytes.size() >= 4 && std::memcmp(bytes.data(), "FHDB", 4) == 0;
  const std::int64_t at = address;
  if (!heaps.sound(at, bytes) || (kind == H5FD_MEM_OHDR && !file.headers->sound(at, bytes, sound)) ||
      (block && !sound_block(bytes, sound))) {
    note(H5E_READERROR, "read", "its headers or heaps are damaged");
    return false;
  }
  if (kind == H5FD_MEM_OHDR && has_broken_enumeration(bytes.data(), bytes.size())) {
    note(H5E_BADVALUE, "read", "an enumeration has another size than its numbers");
    return false;
  }
  return true;
}

herr_t read_bytes(H5FD_t* file, H5FD_mem_t kind, hid_t, haddr_t address, std::size_t size, void* to) {
  constexpr haddr_t most = std::numeric_limits<off_t>::max();
  if (address > most || size > most - address) return -1;
  if (probe && kind == H5FD_MEM_DRAW) {
    probe->offset = address;
    probe->bytes = size;
    return 0;
  }
  const haddr_t begin = address;
  const std::span<std::uint8_t> all(static_cast<std::uint8_t*>(to), size);
  auto* next = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::pread(opened(file).descriptor, next, size, address);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      note(H5E_READERROR, "read", std::strerror(errno));
      return -1;
    }
    if (got == 0) {  // addresses may lie beyond the end of the file: zeros, as in the default driver
      std::memset(next, 0, size);
      break;
    }
    next += got;
    address += got;
    size -= got;
  }
  return sound_piece(opened(file), kind, begin, all) ? 0 : -1;
}

herr_t refuse_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

hid_t registered_driver() {
  static const H5FD_class_t kind = [] {
    H5FD_class_t made{};
    made.name = "isobar";
    made.maxaddr = std::numeric_limits<off_t>::max();
    made.fc_degree = H5F_CLOSE_WEAK;
    made.open = open_file;
    made.close = close_file;
    made.cmp = compare_files;
    made.query = query_features;
    made.get_eoa = end_of_addresses;
    made.set_eoa = set_end_of_addresses;
    made.get_eof = end_of_file;
    made.get_handle = get_handle;
    made.read = read_bytes;
    made.write = refuse_write;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::memcpy(made.fl_map, map, sizeof(map));
    return made;
  }();
  static const hid_t id = H5FDregister(&kind);
  return id;
}

}  // namespace

Hdf5Handle hdf5_reading_access() {
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  expects(access.id >= 0 && H5Pset_driver(access.id, registered_driver(), nullptr) >= 0, "a driver HDF5 accepts");
  return access;
}

Hdf5Id open_hdf5(const std::filesystem::path& path, int descriptor) {
  handed_over = descriptor;
  const Hdf5Handle access = hdf5_reading_access();
  const Hdf5Id file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id);
  if (handed_over >= 0) ::close(std::exchange(handed_over, -1));  // it failed before the driver was called
  if (file < 0) fail("{}: cannot open as an HDF5 file: {}", path.string(), hdf5_reason());
  return file;
}

int hdf5_descriptor(Hdf5Id file) {
  void* descriptor = nullptr;
  expects(H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor) >= 0 && descriptor, "a file opened for reading");
  return *static_cast<int*>(descriptor);
}

Hdf5Probe::Hdf5Probe() {
  expects(!probe, "one probe at a time");
  probe = this;
}

Hdf5Probe::~Hdf5Probe() { probe = nullptr; }

}  // namespace isobar::hdf5
