// DiskFile: a late file on disk. Offsets are always passed, never remembered: a failed write can be repeated.
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isobar/disk/late_target.hpp"
#include "isobar/disk/output_file.hpp"

namespace isobar::disk {
namespace {

int write_all(int file, std::int64_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = pwrite(file, bytes.data(), bytes.size(), at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return wrote < 0 ? errno : ENOSPC;
    at += wrote;
    bytes.remove_prefix(wrote);
  }
  return 0;
}

// Not all file systems count links correctly: a link count of 0 is trusted only after looking the name up.
bool is_elsewhere(const std::filesystem::path& path, ino_t number) {
  struct stat there {};
  return stat(path.c_str(), &there) != 0 || there.st_ino != number;
}

}  // namespace

void DiskFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

int DiskFile::open(std::int64_t& kept) {
  close();
  if (makes_folder_ && mkdir(path_.parent_path().c_str(), 0777) != 0 && errno != EEXIST) return errno;
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) return errno;
  struct stat state {};
  if (fstat(file_, &state) != 0) return errno;
  kept = std::min<std::int64_t>(kept, state.st_size);
  return state.st_size > kept && ftruncate(file_, kept) != 0 ? errno : 0;
}

int DiskFile::write(std::int64_t at, const std::string& bytes, std::string_view tail) {
  struct stat state {};
  if (fstat(file_, &state) != 0) return errno;
  if (state.st_nlink == 0 && is_elsewhere(path_, state.st_ino)) return ENOENT;  // nobody would find what is written now
  const int problem = write_all(file_, at, bytes + std::string(tail));
  // Half a line must not stay; the closing text fits again, because it was there before.
  if (problem != 0 && ftruncate(file_, at) == 0) write_all(file_, at, tail);
  return problem;
}

int DiskFile::read(std::int64_t end, std::string& bytes) {
  bytes.resize(end);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = pread(file_, bytes.data() + done, bytes.size() - done, done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    done += got;
  }
  bytes.resize(done);
  return 0;
}

int DiskFile::replace(std::string_view bytes) {
  const std::filesystem::path fresh = temporary_beside(path_);
  const int file = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int problem = write_all(file, 0, bytes);
  if (problem == 0 && rename(fresh.c_str(), path_.c_str()) != 0) problem = errno;
  if (problem != 0) {
    ::close(file);
    unlink(fresh.c_str());
    return problem;
  }
  close();
  file_ = file;
  return 0;
}

}  // namespace isobar::disk
