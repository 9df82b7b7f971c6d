// LateTarget: a file as the thread that writes late files sees it. DiskFile is a file on disk; tests use others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace isobar::disk {

/// Functions return 0 or an error number; anything that fails may be retried. Only one thread calls at a time.
class LateTarget {
 public:
  virtual ~LateTarget() = default;
  /// Opens the file, creating it if necessary, and truncates it to `kept` bytes; if it is shorter, `kept` becomes its
  /// length.
  virtual int open(std::int64_t& kept) = 0;
  /// Writes bytes at an offset, all of them or none, followed by a closing text.
  virtual int write(std::int64_t at, const std::string& bytes, std::string_view tail) = 0;
  /// Reads the file up to an offset.
  virtual int read(std::int64_t end, std::string& bytes) = 0;
  /// Replaces the whole content atomically.
  virtual int replace(std::string_view bytes) = 0;
};

class DiskFile final : public LateTarget {
 public:
  /// With `makes_folder`, its folder is created if it does not exist.
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
