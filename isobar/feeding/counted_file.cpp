#include "isobar/feeding/counted_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "isobar/base/error.hpp"

namespace isobar::feeding {

std::int64_t change_time(const struct stat& facts) {
  return facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

CountedFile::CountedFile(std::filesystem::path path, std::int64_t bytes, std::int64_t changed)
    : path_(std::move(path)), bytes_(bytes), changed_(changed) {
  // Without O_NONBLOCK, opening a pipe that replaced the file would block forever.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail("staging {}: cannot be opened: {}", path_.string(), std::strerror(errno));
  try {
    expect_unchanged("since it was listed");
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

CountedFile::CountedFile(CountedFile&& other) noexcept
    : path_(std::move(other.path_)),
      bytes_(other.bytes_),
      changed_(other.changed_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

CountedFile& CountedFile::operator=(CountedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  std::swap(changed_, other.changed_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

CountedFile::~CountedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void CountedFile::read(std::span<std::byte> out, std::int64_t& counter) {
  while (!out.empty()) {
    const ssize_t got = ::read(descriptor_, out.data(), out.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("staging {}: cannot be read: {}", path_.string(), std::strerror(errno));
    if (got == 0) {
      expect_unchanged("while it was read");
      fail("staging {}: ends before its {} bytes", path_.string(), bytes_);
    }
    counter += got;
    out = out.subspan(got);
  }
}

void CountedFile::finish() const { expect_unchanged("while it was read"); }

void CountedFile::expect_unchanged(const char* when) const {
  struct stat facts {};
  if (fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode))
    fail("staging {}: is no longer a regular file", path_.string());
  if (facts.st_size != bytes_)
    fail("staging {}: had {} bytes and has {} now: it changed {}", path_.string(), bytes_, facts.st_size, when);
  if (change_time(facts) != changed_) fail("staging {}: was written to {}", path_.string(), when);
}

void write_block(const std::filesystem::path& path, std::int64_t offset, std::span<const std::byte> bytes) {
  if (offset == 0) {
    std::error_code code;
    std::filesystem::create_directories(path.parent_path(), code);
    if (code) fail("{}: cannot be made: {}", path.parent_path().string(), code.message());
  }
  // Opened for every block: a rank writes the files of many other ranks in turn, and descriptors are scarce.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | (offset == 0 ? O_CREAT | O_EXCL : 0), 0644);
  if (descriptor < 0) fail("{}: cannot be opened for writing: {}", path.string(), std::strerror(errno));
  int problem = 0;
  while (!bytes.empty() && problem == 0) {
    const ssize_t done = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) problem = errno;
    else bytes = bytes.subspan(done), offset += done;
  }
  if (::close(descriptor) != 0 && problem == 0) problem = errno;
  if (problem != 0) fail("{}: cannot be written: {}", path.string(), std::strerror(problem));
}

}  // namespace isobar::feeding
