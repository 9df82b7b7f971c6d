// Broken files on purpose: bit flips, truncations, wrong lengths, pieces moved, inserted or cut out; and running code
// on many of them in a child process, so that a crash or a hang is a failed test that names its number.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "isobar/base/random.hpp"

#include "tests/watched_memory.hpp"

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
  std::uint64_t largest_allocation = 0;  ///< in bytes
  std::string death;                     ///< "" when nothing died
  std::string beyond;                    ///< what was allocated beyond the bound, or ""
};

/// Runs `use`, which says whether it accepted, in a child process that may allocate `max_bytes` and that has `seconds`
/// for each number. What `use` throws ends it.
inline Survival survive(std::uint64_t count, const std::function<bool(std::uint64_t)>& use, std::uint64_t max_bytes,
                        unsigned seconds) {
  struct Shared {
    std::uint64_t next = 0, accepted = 0, refused = 0;
    WatchedMemory memory{};
    char what[256] = {};
  };
  void* const place = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  auto* const shared = new (place) Shared;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    watch_memory(shared->memory);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // For the machine's sake; what fails for it is seen as well.
    const rlimit space{8 * max_bytes, 8 * max_bytes};
    setrlimit(RLIMIT_DATA, &space);
#endif
    try {
      for (; shared->next < count; ++shared->next) {
        alarm(seconds);
        ++(use(shared->next) ? shared->accepted : shared->refused);
        if (!shared->memory.beyond(max_bytes).empty()) break;  // so that `next` tells whose it is
      }
    } catch (const std::exception& problem) {
      std::snprintf(shared->what, sizeof shared->what, "%s", problem.what());
      _exit(3);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Survival outcome{shared->accepted, shared->refused, shared->memory.largest, "", shared->memory.beyond(max_bytes)};
  const std::string number = "variant " + std::to_string(shared->next) + ": ";
  if (!outcome.beyond.empty()) outcome.beyond = number + outcome.beyond;
  if (WIFSIGNALED(status))
    outcome.death =
        number +
        (WTERMSIG(status) == SIGALRM ? "hangs" : "ends the process by signal " + std::to_string(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0) outcome.death = number + (shared->what[0] ? shared->what : "ends the process");
  munmap(place, sizeof(Shared));
  return outcome;
}

}  // namespace isobar::tests
