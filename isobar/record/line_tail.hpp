// LineTail: reads the lines that another process appends to a file, without reading it again from the beginning. It
// notices when lines it has read are gone because the file was truncated, replaced or removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace isobar::record {

class LineTail {
 public:
  explicit LineTail(std::filesystem::path file) : file_(std::move(file)) {}

  /// The complete lines since the last call, at most a few megabytes: call until it returns none. An incomplete line
  /// comes later; a line longer than any program writes never comes, nor does anything after it.
  std::vector<std::string> fresh();
  /// What happened to the lines returned so far: all are there, only the first of them (the file was truncated and may
  /// have grown again), or none. Always `there` before the first line.
  enum class Past { there, cut, gone };
  Past past() const;
  /// Starts again at the first line.
  void restart();

 private:
  std::filesystem::path file_;
  std::uintmax_t offset_ = 0;  // of the first byte not returned yet
  // The first two lines, and the bytes before the offset, which identify the file.
  std::string first_, last_;
  int given_ = 0;  // of those two
};

}  // namespace isobar::record
