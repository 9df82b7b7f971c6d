// EventFile: TensorBoard's files: TFRecords, each a message tensorflow.Event with time, step and what happened. Records
// are whole in memory before the first byte is written, so that a file cut short anywhere is good up to the cut.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/disk/late_file.hpp"
#include "isobar/files/image.hpp"
#include "isobar/files/wire.hpp"

namespace isobar::files {

/// How numbers are spread: counts[i] of them lie above limits[i - 1], or min, and up to limits[i].
struct Histogram {
  double min = 0, max = 0, count = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> limits{}, counts{};
};

/// Named values of one step; in a name, what stands before the first '/' is the group they are shown in.
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
  /// Begins a new file in a folder, which is made when it is not there. Its name sorts behind those of all event files
  /// that are there: TensorBoard reads them in this order.
  explicit EventFile(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  /// Says that a run goes on: what earlier files hold of this step and later ones counts no more.
  void restart(std::int64_t step);
  /// Appends what is known of a step; nothing when that is empty. Never waits.
  void write(std::int64_t step, const EventSummary& summary);
  /// Waits until everything is written; false when that cannot be done.
  bool close() { return file_.close(); }

 private:
  void append(const WireWriter& event);

  std::filesystem::path path_;
  disk::LateFile file_;
};

/// The event files of a folder in the order of their names; none when there is no such folder.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder);

}  // namespace isobar::files
