// LateFile: a file that is appended to while more important work continues. Callers never wait for the disk: one thread
// of the process writes, as soon as it is free, at most about 20 times a second. Data that cannot be written is kept,
// within bounds, and retried; the user is warned once (disk_warnings.hpp). A process that is killed loses what the
// thread had not yet written; the file holds only complete pieces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "isobar/disk/disk_warnings.hpp"
#include "isobar/disk/late_target.hpp"

namespace isobar::disk {

struct LateOptions {
  /// Bytes kept while they cannot be written; beyond that the oldest pieces are dropped, but never the first of an
  /// empty file.
  std::size_t most_bytes = 8 << 20;
  std::string tail{};                ///< closes the file after every write; the next piece overwrites it
  bool makes_folder = false;         ///< create the file's folder if it does not exist
  DiskWarnings* warnings = nullptr;  ///< null: those of this process
};

struct LateState;

class LateFile {
 public:
  LateFile() = default;
  /// Opens a file at once, creates it if necessary, and keeps its first `kept` bytes. A folder in which no file can be
  /// written is an Error; a full disk is not.
  explicit LateFile(std::filesystem::path path, std::int64_t kept = 0, LateOptions options = {});
  /// The same with another target in place of a file on disk.
  LateFile(std::filesystem::path path, std::unique_ptr<LateTarget> target, std::int64_t kept, LateOptions options = {});
  /// A file that the first replace() creates.
  static LateFile whole(std::filesystem::path path, LateOptions options = {});
  /// Closes the file.
  ~LateFile();
  LateFile(LateFile&&) noexcept = default;
  LateFile& operator=(LateFile&& other) noexcept;

  bool is_open() const { return state_ != nullptr; }
  /// The length of the file once everything is written, without the closing text.
  std::int64_t length() const;
  /// Appends a piece of one or more whole lines; never waits.
  void append(std::string piece);
  /// Replaces all previous content; never waits.
  void replace(std::string content);
  /// Replaces the first line; never waits.
  void replace_first_line(std::string line);
  /// Writes everything now and waits for it, at most `seconds`; false if something is not written by then.
  bool flush(double seconds = 10);
  /// Flushes and closes; data that cannot be written is given up, and the user is told.
  bool close();
  /// Closes without waiting: data not yet written is retried as long as the process lives.
  void leave();

 private:
  LateFile(std::shared_ptr<LateState> state);

  std::shared_ptr<LateState> state_;
};

/// Writes a whole file: now, if that takes at most a few seconds, or else as soon as possible.
void write_late(const std::filesystem::path& path, std::string content);

/// Writes everything that the late files of this process hold, and waits for it, at most `seconds`; false if time ran
/// out. disk_warnings() knows whether everything could be written.
bool flush_late_files(double seconds = 10);

}  // namespace isobar::disk
