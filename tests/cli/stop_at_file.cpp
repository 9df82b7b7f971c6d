// A library that tests preload into the ranks of a run: rank ISOBAR_TEST_STOP_RANK stops (SIGSTOP) when it has opened
// its fifth file for writing whose path contains ISOBAR_TEST_STOP_FILE. So it stands where the test wants it, however
// late the test is.
#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

bool stops_here(const char* path) {
  const char* const wanted_rank = std::getenv("ISOBAR_TEST_STOP_RANK");
  const char* const wanted_file = std::getenv("ISOBAR_TEST_STOP_FILE");
  if (!wanted_rank || !wanted_file || !std::strstr(path, wanted_file)) return false;
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const char* rank = std::getenv(name); rank && std::strcmp(rank, wanted_rank) == 0) {
      static std::atomic<int> opened = 0;
      return ++opened == 5;
    }
  return false;
}

int open_and_stop(const char* path, int flags, mode_t mode) {
  const auto descriptor = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  if (descriptor >= 0 && (flags & O_ACCMODE) != O_RDONLY && stops_here(path)) std::raise(SIGSTOP);
  return descriptor;
}

mode_t mode_in(int flags, std::va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

extern "C" int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  return open_and_stop(path, flags, mode);
}

extern "C" int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_in(flags, arguments);
  va_end(arguments);
  return open_and_stop(path, flags, mode);
}
