// TextFile: a file that is written, where a full disk is an Error naming the file and not a silent loss.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "isobar/base/error.hpp"

namespace isobar::report {

class TextFile {
 public:
  TextFile() = default;
  /// Begins a new file, or empties the one that is there.
  static TextFile create(const std::filesystem::path& path) { return TextFile(path, "w"); }
  /// Goes on at the end of a file, which is made when it is not there.
  static TextFile append(const std::filesystem::path& path) { return TextFile(path, "a"); }

  bool is_open() const { return file_ != nullptr; }
  void write(std::string_view text);
  /// Hands everything to the system.
  void flush();
  /// Flushes and closes; a file left open is closed by the destructor, without a word about failures.
  void close();

 private:
  TextFile(const std::filesystem::path& path, const char* mode);
  [[noreturn]] void fail_write() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// Writes a whole file at once.
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace isobar::report
