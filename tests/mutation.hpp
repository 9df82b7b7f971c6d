// Broken files on purpose: bit flips, truncations, wrong lengths, pieces moved, inserted or cut out; and running code
// on many of them in a child process, so that a crash or a hang is a failed test that names its number.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "isobar/base/random.hpp"

#if defined(__SANITIZE_ADDRESS__)
// Part of the sanitizer's library; GCC brings no header for it.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*, std::size_t),
                                                         void (*free_hook)(const volatile void*));
#endif

namespace isobar::tests {

using FileBytes = std::vector<std::uint8_t>;

/// Variant `number` of a file: the same for the same number, and never the file itself unless chance wills it.
inline FileBytes mutated(std::span<const std::uint8_t> original, std::uint64_t number) {
  const Random random = Random(4711).sub(number);
  std::uint64_t draws = 1;
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random.below(draws++, std::max<std::uint64_t>(n, 1)));
  };
  FileBytes bytes(original.begin(), original.end());
  const std::size_t size = bytes.size();
  const auto flip = [&] { bytes[below(size)] ^= static_cast<std::uint8_t>(1u << below(8)); };
  const auto at = [&](std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (random.below(0, 8)) {
    case 0:
    case 1: flip(); break;
    case 2:
      for (std::size_t i = 2 + below(30); i > 0; --i) flip();
      break;
    case 3: bytes.resize(below(size)); break;
    case 4:
    case 5: {  // a number of 1 to 8 bytes becomes an extreme one, in the first part of the file every second time
      const std::size_t width = std::size_t{1} << below(4);
      const std::size_t range = below(2) ? std::min<std::size_t>(size, 512) : size;
      const std::size_t first = below(range);
      const std::size_t last = std::min(size, first + width);
      const std::uint8_t fill[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
      const std::uint8_t with = fill[below(5)];
      std::fill(at(first), at(last), with);
      if (below(2)) bytes[below(2) ? first : last - 1] = fill[below(5)];
      break;
    }
    case 6: {  // a piece is cut out, or doubled
      const std::size_t first = below(size), last = std::min(size, first + 1 + below(64));
      const FileBytes piece(at(first), at(last));
      below(2) ? void(bytes.erase(at(first), at(last))) : void(bytes.insert(at(first), piece.begin(), piece.end()));
      break;
    }
    default: {  // a piece lies where another one lay
      const std::size_t length = 1 + below(32), from = below(size), to = below(size);
      for (std::size_t i = 0; i < length && from + i < size && to + i < size; ++i) bytes[to + i] = original[from + i];
    }
  }
  return bytes;
}

/// How many variants of each file are tried: ISOBAR_MUTATIONS, or few enough for every test run.
inline std::uint64_t mutations(std::uint64_t otherwise) {
  const char* wanted = std::getenv("ISOBAR_MUTATIONS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : otherwise;
}

/// What became of running `use` on the numbers [0, count): how many it accepted, and the first that ended the process.
struct Survival {
  std::uint64_t accepted = 0, refused = 0;
  std::uint64_t largest_allocation = 0;  ///< in bytes; known under the address sanitizer only
  std::string death;                     ///< "" when nothing died
};

namespace survival {
inline std::uint64_t* largest = nullptr;
inline void note_allocation(const volatile void*, std::size_t size) {
  if (largest && size > *largest) *largest = size;
}
}  // namespace survival

/// Runs `use`, which says whether it accepted, in a child process whose memory may grow by `max_bytes` and that has
/// `seconds` for each number. What `use` throws ends it.
inline Survival survive(std::uint64_t count, const std::function<bool(std::uint64_t)>& use, std::uint64_t max_bytes,
                        unsigned seconds) {
  struct Shared {
    std::uint64_t next, accepted, refused, largest;
    char what[256];
  };
  auto* shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) throw std::bad_alloc();
  *shared = {};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
#if defined(__SANITIZE_ADDRESS__)
    survival::largest = &shared->largest;
    __sanitizer_install_malloc_and_free_hooks(survival::note_allocation, [](const volatile void*) {});
    (void)max_bytes;
#else
    long pages = 0;
    if (std::FILE* state = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(state, "%ld", &pages) != 1) pages = 0;
      std::fclose(state);
    }
    const rlim_t limit = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + max_bytes;
    const rlimit space{limit, limit};
    setrlimit(RLIMIT_AS, &space);
#endif
    try {
      for (; shared->next < count; ++shared->next) {
        alarm(seconds);
        ++(use(shared->next) ? shared->accepted : shared->refused);
      }
    } catch (const std::exception& problem) {
      std::snprintf(shared->what, sizeof shared->what, "%s", problem.what());
      _exit(3);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Survival outcome{shared->accepted, shared->refused, shared->largest, ""};
  const std::string number = std::to_string(shared->next);
  if (WIFSIGNALED(status))
    outcome.death =
        "variant " + number +
        (WTERMSIG(status) == SIGALRM ? ": hangs" : ": ends the process by signal " + std::to_string(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    outcome.death = "variant " + number + ": " + (shared->what[0] ? shared->what : "ends the process");
  munmap(shared, sizeof(Shared));
  return outcome;
}

}  // namespace isobar::tests
