#include "isobar/disk/durable_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "isobar/disk/disk_error.hpp"
#include "isobar/disk/output_file.hpp"

namespace isobar::disk {

namespace fs = std::filesystem;

DurableFile::DurableFile(fs::path path, std::int64_t bytes)
    : path_(std::move(path)), temporary_(temporary_beside(path_)) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail_write();
  }
  // Without enough space, writing half of it is useless; some file systems cannot reserve space.
  if (bytes > 0 && ::fallocate(descriptor_, 0, 0, bytes) != 0 && (errno == ENOSPC || errno == EDQUOT)) {
    const int reason = errno;
    ::close(std::exchange(descriptor_, -1));
    ::unlink(std::exchange(temporary_, {}).c_str());
    errno = reason;
    fail_write();
  }
}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void DurableFile::fail_write() const { throw DiskError(path_, disk_cause(errno)); }

void DurableFile::write_at(std::int64_t offset, std::span<const std::uint8_t> bytes) {
  expects(descriptor_ >= 0, "a file that was not committed");
  constexpr std::size_t piece = std::size_t{16} << 20;  // a signal or another disk user waits for at most one
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data() + done, std::min(piece, bytes.size() - done), offset + done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_write();
    done += written;
  }
}

void DurableFile::commit() {
  expects(descriptor_ >= 0, "a file that was not committed");
  if (::fsync(descriptor_) != 0) fail_write();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_write();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_write();
  temporary_.clear();
  sync_to_disk(path_.has_parent_path() ? path_.parent_path() : ".");
}

void sync_to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) fail("{}: cannot be brought to disk: {}", path.string(), std::strerror(reason));
}

}  // namespace isobar::disk
