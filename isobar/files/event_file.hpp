// EventFile: TensorBoard's files: TFRecords, each a tensorflow.Event message with time, step and values. A record is
// complete in memory before its first byte is written, so a truncated file is valid up to the cut.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "isobar/disk/late_file.hpp"
#include "isobar/files/image.hpp"
#include "isobar/files/wire.hpp"

namespace isobar::files {

/// The distribution of numbers: counts[i] of them are above limits[i - 1] (or min) and at most limits[i].
struct Histogram {
  double min = 0, max = 0, count = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> limits{}, counts{};
};

/// Named values of one step; the part of a name before the first '/' is the group under which TensorBoard shows it.
class EventSummary {
 public:
  void scalar(std::string_view tag, double value);
  void image(std::string_view tag, const Image& image);
  void histogram(std::string_view tag, const Histogram& histogram);
  /// Text in Markdown.
  void text(std::string_view tag, std::string_view markdown);

  bool empty() const { return message_.message().empty(); }
  const WireWriter& message() const { return message_; }

 private:
  WireWriter message_;
};

class EventFile {
 public:
  /// Begins a new file in a folder, which is created if necessary. Its name sorts after those of all existing event
  /// files, because TensorBoard reads them in this order.
  explicit EventFile(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  /// Records that a run continues: TensorBoard then ignores what earlier files say of this step and later ones.
  void restart(std::int64_t step);
  /// Appends the values of a step, or nothing if there are none. Never blocks.
  void write(std::int64_t step, const EventSummary& summary);
  /// Waits until everything is written; false if that fails.
  bool close() { return file_.close(); }

 private:
  void append(const WireWriter& event);

  std::filesystem::path path_;
  disk::LateFile file_;
};

/// The event files of a folder, sorted by name; empty if the folder does not exist.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder);

}  // namespace isobar::files
