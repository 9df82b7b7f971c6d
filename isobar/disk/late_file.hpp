// LateFile: a file that is added to while something more important goes on. Whoever adds never waits for the disk: one
// thread of the process writes, as soon as it is free, some 20 times a second at most. What cannot be written is kept,
// within bounds, and tried again; the user is warned once (disk_warnings.hpp). A process that is killed loses what the
// thread had not come to; what is in the file is whole pieces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "isobar/disk/disk_warnings.hpp"
#include "isobar/disk/late_target.hpp"

namespace isobar::disk {

struct LateOptions {
  /// Bytes kept while they cannot be written; beyond, the oldest pieces go, but never the first of an empty file.
  std::size_t most_bytes = 8 << 20;
  std::string tail{};                ///< closes the file after every write; the next piece overwrites it
  bool makes_folder = false;         ///< the folder of the file is made when it is not there
  DiskWarnings* warnings = nullptr;  ///< null: those of this process
};

struct LateState;

class LateFile {
 public:
  LateFile() = default;
  /// Opens a file at once, made when it is not there, of which the first `kept` bytes stay. A folder in which no file
  /// can be written is an Error; a disk that is full is not.
  explicit LateFile(std::filesystem::path path, std::int64_t kept = 0, LateOptions options = {});
  /// As above, with something else in place of a file on disk.
  LateFile(std::filesystem::path path, std::unique_ptr<LateTarget> target, std::int64_t kept, LateOptions options = {});
  /// A file that is made by the first replace().
  static LateFile whole(std::filesystem::path path, LateOptions options = {});
  /// Closes it.
  ~LateFile();
  LateFile(LateFile&&) noexcept = default;
  LateFile& operator=(LateFile&& other) noexcept;

  bool is_open() const { return state_ != nullptr; }
  /// Bytes that are in the file when everything is written, without the closing text.
  std::int64_t length() const;
  /// Adds a piece, of one or more whole lines; never waits.
  void append(std::string piece);
  /// Puts `content` in place of everything before; never waits.
  void replace(std::string content);
  /// Puts `line` in place of the first line; never waits.
  void replace_first_line(std::string line);
  /// Has everything written now, and waits for it, but at most so many seconds; false when not all of it is written.
  bool flush(double seconds = 10);
  /// Flushes and closes; what cannot be written is given up, which the user is told.
  bool close();
  /// Closes without waiting: what is not written yet is tried until it is, as long as the process lives.
  void leave();

 private:
  LateFile(std::shared_ptr<LateState> state);

  std::shared_ptr<LateState> state_;
};

/// Writes a whole file: now, if that can be done within seconds, and else as soon as it can be.
void write_late(const std::filesystem::path& path, std::string content);

/// Has everything written that all late files of this process were given before, and waits for it, but at most so many
/// seconds; false when there was no time. Whether all of it could be written is told by disk_warnings().
bool flush_late_files(double seconds = 10);

}  // namespace isobar::disk
