#include "isobar/report/tailed_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "isobar/base/error.hpp"

namespace isobar::report {

TailedFile::TailedFile(std::filesystem::path path, std::int64_t kept, std::string tail)
    : path_(std::move(path)), tail_(std::move(tail)), length_(kept) {
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0 || ftruncate(file_, kept) != 0) fail_write();
}

TailedFile::~TailedFile() {
  if (file_ >= 0) close(file_);
}

TailedFile::TailedFile(TailedFile&& other) noexcept { *this = std::move(other); }

TailedFile& TailedFile::operator=(TailedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(tail_, other.tail_);
  std::swap(length_, other.length_);
  std::swap(file_, other.file_);
  return *this;
}

void TailedFile::fail_write() const {
  fail("{}: cannot be written: {}", path_.string(), std::generic_category().message(errno));
}

void TailedFile::append(std::string_view piece) {
  expects(is_open(), "an open file");
  const std::string text = std::string(piece) + tail_;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote =
        pwrite(file_, text.data() + done, text.size() - done, length_ + static_cast<std::int64_t>(done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) fail_write();
    done += static_cast<std::size_t>(wrote);
  }
  length_ += static_cast<std::int64_t>(piece.size());
}

}  // namespace isobar::report
