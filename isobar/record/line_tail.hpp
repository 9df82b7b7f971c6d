// LineTail: the lines that are added to a file somebody else writes, as they come, without reading it again from its
// beginning. It notices when what was read is there no longer: the file was cut, replaced or taken away.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace isobar::record {

class LineTail {
 public:
  explicit LineTail(std::filesystem::path file) : file_(std::move(file)) {}

  /// The whole lines since the last call, some megabytes at most: ask until there are none. A line that is not whole
  /// yet comes later; a longer one than any program writes, never, nor what follows it.
  std::vector<std::string> fresh();
  /// What became of the lines that were given out: all are there, only the first of them (somebody cut the file and may
  /// have gone on with it), or none. Before the first line nothing changes.
  enum class Past { there, cut, gone };
  Past past() const;
  /// Begins again at the first line.
  void restart();

 private:
  std::filesystem::path file_;
  std::uintmax_t offset_ = 0;  // of the first byte that was not given out
  // The first two lines, and the bytes before the offset: by these the file is known again.
  std::string first_, last_;
  int given_ = 0;  // of those two
};

}  // namespace isobar::record
