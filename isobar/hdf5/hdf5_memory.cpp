#include "isobar/hdf5/hdf5_memory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include <hdf5.h>

#include "isobar/base/error.hpp"

namespace isobar::hdf5 {
namespace {

// Guarded by the library's lock, under which every callback below runs.
Hdf5Memory* current = nullptr;

struct MemoryFile {
  H5FD_t base;  // first: the library sees only this
  Hdf5Memory* memory;
};

Hdf5Memory& memory_of(const H5FD_t* file) { return *reinterpret_cast<const MemoryFile*>(file)->memory; }

H5FD_t* open_memory(const char*, unsigned, hid_t, haddr_t) {
  auto* made = current ? new (std::nothrow) MemoryFile{} : nullptr;
  if (!made) return nullptr;
  made->memory = current;
  return &made->base;
}

herr_t close_memory(H5FD_t* file) {
  delete reinterpret_cast<MemoryFile*>(file);
  return 0;
}

haddr_t size_of(const H5FD_t* file, H5FD_mem_t) { return memory_of(file).size(); }

herr_t set_size(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  memory_of(file).set_size(address);
  return 0;
}

herr_t read_memory(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* to) {
  memory_of(file).read(address, {static_cast<std::uint8_t*>(to), size});
  return 0;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* from) try {
  memory_of(file).write(address, {static_cast<const std::uint8_t*>(from), size});
  return 0;
} catch (const std::bad_alloc&) {
  return -1;
}

hid_t registered_memory_driver() {
  static const H5FD_class_t kind = [] {
    H5FD_class_t made{};
    made.name = "isobar-memory";
    made.maxaddr = std::numeric_limits<std::int64_t>::max();
    made.fc_degree = H5F_CLOSE_WEAK;
    made.open = open_memory;
    made.close = close_memory;
    made.get_eoa = size_of;
    made.set_eoa = set_size;
    made.get_eof = size_of;
    made.read = read_memory;
    made.write = write_bytes;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::memcpy(made.fl_map, map, sizeof(map));
    return made;
  }();
  static const hid_t id = H5FDregister(&kind);
  return id;
}

}  // namespace

Hdf5Memory::Hdf5Memory() {
  expects(!current, "one file in memory at a time");
  current = this;
}

Hdf5Memory::~Hdf5Memory() { current = nullptr; }

Hdf5Handle Hdf5Memory::access() const {
  Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  expects(access.id >= 0 && H5Pset_driver(access.id, registered_memory_driver(), nullptr) >= 0,
          "a driver HDF5 accepts");
  return access;
}

void Hdf5Memory::read(std::int64_t offset, std::span<std::uint8_t> out) const {
  while (!out.empty()) {
    const std::int64_t within = offset % page;
    const auto count = std::min(out.size(), static_cast<std::size_t>(page - within));
    const auto found = pages_.find(offset / page);
    if (found == pages_.end()) std::ranges::fill(out.first(count), std::uint8_t{0});
    else std::copy_n(found->second.begin() + within, count, out.begin());
    out = out.subspan(count);
    offset += count;
  }
}

void Hdf5Memory::write(std::int64_t offset, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::int64_t within = offset % page;
    const auto count = std::min(bytes.size(), static_cast<std::size_t>(page - within));
    std::copy_n(bytes.begin(), count, pages_[offset / page].begin() + within);
    bytes = bytes.subspan(count);
    offset += count;
  }
}

}  // namespace isobar::hdf5
