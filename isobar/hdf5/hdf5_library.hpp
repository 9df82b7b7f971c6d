// What the files of this folder share for calling the HDF5 library: owned identifiers, and its error stack as an Error.
// hid_t is written as the int64 it is, so that no header includes the library's. Use all of it under lock_hdf5().
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace isobar::hdf5 {

using Hdf5Id = std::int64_t;  ///< hid_t

/// Owns one identifier of the library; it is released under the lock, because the lock is taken before it is made.
struct Hdf5Handle {
  Hdf5Id id = -1;
  int (*close)(Hdf5Id) = nullptr;

  Hdf5Handle() = default;
  Hdf5Handle(Hdf5Id made, int (*closer)(Hdf5Id)) : id(made), close(closer) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id(std::exchange(other.id, -1)), close(other.close) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id, other.id);
    std::swap(close, other.close);
    return *this;
  }
  ~Hdf5Handle() {
    if (id >= 0) close(id);
  }
};

/// The reason why the last call to the library failed, in one line.
std::string hdf5_reason();

/// Throws "FILE: cannot ATTEMPT 'NAME': why".
[[noreturn]] void fail_hdf5(const std::filesystem::path& file, std::string_view attempt, std::string_view name);

/// The result of a call, if it did not fail.
inline Hdf5Id checked_hdf5(Hdf5Id result, const std::filesystem::path& file, std::string_view attempt,
                           std::string_view name) {
  if (result < 0) fail_hdf5(file, attempt, name);
  return result;
}

/// The library's name of a type in memory: float, double, or std::intN_t and std::uintN_t.
Hdf5Id hdf5_memory_type(bool real, bool is_signed, std::size_t bytes);
template <class T>
Hdf5Id hdf5_memory_type() {
  return hdf5_memory_type(std::is_floating_point_v<T>, std::is_signed_v<T>, sizeof(T));
}

}  // namespace isobar::hdf5
