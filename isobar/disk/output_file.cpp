#include "isobar/disk/output_file.hpp"

#include <atomic>
#include <cerrno>
#include <unistd.h>
#include <utility>

#include "isobar/disk/disk_error.hpp"

namespace isobar::disk {

namespace fs = std::filesystem;

fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> number{0};
  fs::path named = path;
  if (named.filename().empty()) named = named.parent_path();  // "folder/"
  named += fmt::format(".{}-{}.part", ::getpid(), number++);
  return named;
}

OutputFile::OutputFile(fs::path path) : path_(std::move(path)), temporary_(temporary_beside(path_)) {
  file_.reset(std::fopen(temporary_.c_str(), "wbx"));
  if (!file_) fail_write();
  constexpr std::size_t buffer = 1 << 18;
  std::setvbuf(file_.get(), nullptr, _IOFBF, buffer);
}

OutputFile::~OutputFile() {
  file_.reset();
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void OutputFile::fail_write() const { throw DiskError(path_, disk_cause(errno)); }

void OutputFile::write(std::span<const std::uint8_t> bytes) {
  expects(file_ != nullptr, "a file that was not committed");
  if (bytes.empty()) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail_write();
}

void OutputFile::commit() {
  if (std::fclose(file_.release()) != 0) fail_write();
  std::error_code code;
  fs::rename(temporary_, path_, code);
  if (code) throw DiskError(path_, code.message());
  temporary_.clear();
}

OutputFolder::OutputFolder(fs::path path) : path_(std::move(path)), temporary_(temporary_beside(path_)) {
  std::error_code code;
  if (!fs::create_directory(temporary_, code))
    fail("{}: the folder cannot be made: {}", path_.string(), code.message());
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void OutputFolder::commit() {
  std::error_code code;
  fs::rename(temporary_, path_, code);
  if (code) fail("{}: cannot be renamed: {}", path_.string(), code.message());
  temporary_.clear();
}

}  // namespace isobar::disk
