#include "isobar/files/input_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "isobar/base/error.hpp"
#include "isobar/files/read_count.hpp"

namespace isobar::files {

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  // Without O_NONBLOCK, opening a pipe without a writer would block forever.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail("{}: cannot be opened for reading: {}", path_.string(), std::strerror(errno));
  struct stat facts {};
  const bool regular = fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode);
  if (!regular) {
    ::close(std::exchange(descriptor_, -1));
    fail("{}: is not a regular file", path_.string());
  }
  size_ = facts.st_size;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read_at(std::int64_t offset, std::span<std::uint8_t> out) const {
  expects(offset >= 0, "an offset inside the file");
  for (std::size_t done = 0; done < out.size();) {
    const std::int64_t at = offset + done;
    const ssize_t got = ::pread(descriptor_, out.data() + done, out.size() - done, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read at byte {}: {}", path_.string(), at, std::strerror(errno));
    if (got == 0)
      fail("{}: ends at byte {}, but {} bytes were expected from byte {} on", path_.string(), at, out.size(), offset);
    done += got;
    bytes_read_here() += got;
  }
}

}  // namespace isobar::files
