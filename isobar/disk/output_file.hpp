// OutputFile and OutputFolder: what is written appears under its name in commit(), complete, or not at all; until then
// it has a temporary name in the same folder.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

namespace isobar::disk {

class OutputFile {
 public:
  /// Begins a file; its folder must exist.
  explicit OutputFile(std::filesystem::path path);
  /// Removes a file that was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Appends bytes; a full disk is an Error.
  void write(std::span<const std::uint8_t> bytes);
  /// Closes the file and gives it its name.
  void commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail_write() const;

  std::filesystem::path path_, temporary_;
  std::unique_ptr<std::FILE, Close> file_;
};

class OutputFolder {
 public:
  /// Begins a folder; its parent must exist.
  explicit OutputFolder(std::filesystem::path path);
  /// Removes a folder that was not committed.
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Where the files of the folder are written until commit().
  const std::filesystem::path& inside() const { return temporary_; }
  /// Gives the folder its name.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
};

/// An unused name in the folder of `path`.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

}  // namespace isobar::disk
