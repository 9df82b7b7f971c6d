#include "isobar/hdf5/hdf5_library.hpp"

#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"

namespace isobar::hdf5 {
namespace {

static_assert(std::is_same_v<hid_t, Hdf5Id> && std::is_same_v<herr_t, int>, "the header writes them so");

// The first call changes two defaults of the library. It would close everything still open at exit, and crash there if
// a full disk made an earlier close fail; we close everything ourselves. And it would print its error stack, which goes
// into the Error instead. In a thread-safe library each thread has its own error stack and setting.
bool settle_library() { return H5dont_atexit() >= 0; }
bool settle_thread() { return H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0; }

}  // namespace

std::unique_lock<std::mutex> lock_hdf5() {
  static std::mutex library;
  std::unique_lock lock(library);
  [[maybe_unused]] static const bool library_settled = settle_library();
  [[maybe_unused]] thread_local const bool thread_settled = settle_thread();
  return lock;
}

// The innermost entry of the error stack says what really happened: "truncated file: eof = 96, ..."; of an error of the
// system, only the system's message is kept.
std::string hdf5_reason() {
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

void fail_hdf5(const std::filesystem::path& file, std::string_view attempt, std::string_view name) {
  fail("{}: cannot {} '{}': {}", file.string(), attempt, name, hdf5_reason());
}

Hdf5Id hdf5_memory_type(bool real, bool is_signed, std::size_t bytes) {
  if (real) return bytes == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  switch (bytes) {
    case 1: return is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
    case 2: return is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
    case 4: return is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
    default: return is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
  }
}

}  // namespace isobar::hdf5
