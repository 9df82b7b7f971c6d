// Sees every allocation of a test program, also those that libraries make and give up on in silence: under a sanitizer
// through its hooks, otherwise by being malloc itself. It defines malloc and its kin: include it in one source of a
// program only.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Part of the sanitizers' libraries; GCC brings no header for it.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*, std::size_t),
                                                         void (*free_hook)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);
#else
#include <cerrno>
#include <malloc.h>
extern "C" {  // glibc's own, under the names it keeps for those who replace the others
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}
#endif

namespace isobar::tests {

/// What was allocated while it was watched, in bytes.
struct WatchedMemory {
  std::atomic<std::uint64_t> largest = 0;  ///< the largest request
  std::atomic<std::uint64_t> failed = 0;   ///< the largest request there was no memory for; under a sanitizer one dies
  std::atomic<std::int64_t> held = 0, most_held = 0;

  void take(std::size_t wanted, bool given, std::size_t size) {
    raise(largest, std::uint64_t{wanted});
    if (!given) raise(failed, std::uint64_t{wanted});
    else raise(most_held, held += static_cast<std::int64_t>(size));
  }
  /// What was beyond a bound, or "".
  std::string beyond(std::uint64_t bytes) const {
    if (largest > bytes) return "an allocation of " + std::to_string(largest) + " bytes";
    if (failed > 0) return "no memory for an allocation of " + std::to_string(failed) + " bytes";
    if (most_held > static_cast<std::int64_t>(bytes)) return std::to_string(most_held) + " bytes held at a time";
    return "";
  }

 private:
  template <class T>
  static void raise(std::atomic<T>& most, T value) {
    for (T old = most; old < value && !most.compare_exchange_weak(old, value);) continue;
  }
};

inline std::atomic<WatchedMemory*> watched = nullptr;

/// From now on allocations are noted in `memory`, which must outlive the process.
inline void watch_memory(WatchedMemory& memory) {
  watched = &memory;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, std::size_t size) { watched.load()->take(size, true, size); },
      [](const volatile void* block) {
        if (block) watched.load()->held -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(block));
      });
#endif
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
inline void* noted(std::size_t wanted, void* block) {
  if (WatchedMemory* const memory = watched) memory->take(wanted, block || wanted == 0, malloc_usable_size(block));
  return block;
}
inline void release(void* block) {
  if (WatchedMemory* const memory = watched) memory->held -= static_cast<std::int64_t>(malloc_usable_size(block));
}
#endif

}  // namespace isobar::tests

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void* malloc(std::size_t size) noexcept { return isobar::tests::noted(size, __libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t wanted = 0;
  if (__builtin_mul_overflow(count, size, &wanted)) wanted = SIZE_MAX;
  return isobar::tests::noted(wanted, __libc_calloc(count, size));
}
void* realloc(void* block, std::size_t size) noexcept {
  const std::size_t before = block ? malloc_usable_size(block) : 0;
  void* const moved = __libc_realloc(block, size);
  if (isobar::tests::WatchedMemory* const memory = isobar::tests::watched; memory && (moved || size == 0))
    memory->held -= static_cast<std::int64_t>(before);
  return isobar::tests::noted(size, moved);
}
void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
  std::size_t wanted = 0;
  return realloc(block, __builtin_mul_overflow(count, size, &wanted) ? SIZE_MAX : wanted);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return isobar::tests::noted(size, __libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept { return memalign(alignment, size); }
int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  void* const made = memalign(alignment, size);
  if (!made && size > 0) return ENOMEM;
  *block = made;
  return 0;
}
void free(void* block) noexcept {
  if (block) isobar::tests::release(block);
  __libc_free(block);
}
}
#endif
