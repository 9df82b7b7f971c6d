// TailedFile: a file that is whole after every write: it ends with a closing text, which the next piece overwrites.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace isobar::report {

class TailedFile {
 public:
  TailedFile() = default;
  /// Opens a file, made when it is not there, of which the first `kept` bytes stay.
  TailedFile(std::filesystem::path path, std::int64_t kept, std::string tail);
  ~TailedFile();
  TailedFile(TailedFile&& other) noexcept;
  TailedFile& operator=(TailedFile&& other) noexcept;

  bool is_open() const { return file_ >= 0; }
  /// Bytes so far, without the closing text.
  std::int64_t length() const { return length_; }
  /// Adds a piece and the closing text in one go: who is killed before or after it leaves a whole file.
  void append(std::string_view piece);

 private:
  [[noreturn]] void fail_write() const;

  std::filesystem::path path_;
  std::string tail_;
  std::int64_t length_ = 0;
  int file_ = -1;
};

}  // namespace isobar::report
