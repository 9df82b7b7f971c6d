// LateTarget: a file as the thread that writes late files sees it. DiskFile is one on disk; tests bring others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace isobar::disk {

/// Functions return 0, or the number of the error; whatever fails may be tried again. Only one thread at a time calls.
class LateTarget {
 public:
  virtual ~LateTarget() = default;
  /// Opens the file, made when it is not there, and cuts it to `kept` bytes, or sets `kept` to what is there when that
  /// is less.
  virtual int open(std::int64_t& kept) = 0;
  /// Writes bytes at a place, all of them or none, and a closing text behind them.
  virtual int write(std::int64_t at, const std::string& bytes, std::string_view tail) = 0;
  /// What is in the file up to a place.
  virtual int read(std::int64_t end, std::string& bytes) = 0;
  /// Puts other content in place of all there is, at once.
  virtual int replace(std::string_view bytes) = 0;
};

class DiskFile final : public LateTarget {
 public:
  /// With `makes_folder` the folder it lies in is made when it is not there.
  explicit DiskFile(std::filesystem::path path, bool makes_folder = false)
      : path_(std::move(path)), makes_folder_(makes_folder) {}
  ~DiskFile() override { close(); }
  DiskFile(const DiskFile&) = delete;

  int open(std::int64_t& kept) override;
  int write(std::int64_t at, const std::string& bytes, std::string_view tail) override;
  int read(std::int64_t end, std::string& bytes) override;
  int replace(std::string_view bytes) override;

 private:
  void close();

  std::filesystem::path path_;
  bool makes_folder_;
  int file_ = -1;
};

}  // namespace isobar::disk
