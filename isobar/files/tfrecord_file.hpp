// TfrecordFile: TensorFlow's files of records: length, check sum of the length, content, check sum of the content, the
// sums being masked CRC-32C. The whole may be compressed with gzip, and then is held in memory; of a plain file only
// the places of the records are, and the content is read when it is asked for.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "isobar/files/archive_writer.hpp"
#include "isobar/files/gzip.hpp"
#include "isobar/files/input_file.hpp"

namespace isobar::files {

class TfrecordFile {
 public:
  /// Opens a file and finds its records; lengths that are damaged or lead out of the file are an Error. More than
  /// `max_bytes` are not held; `memory`, when given, is used for what is.
  explicit TfrecordFile(const std::filesystem::path& path, std::int64_t max_bytes, ByteBuffer memory = {});

  /// The number of records.
  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  /// Bytes of memory it takes.
  std::int64_t held_bytes() const;
  /// The content of a record, its check sum compared; it lies in the file's memory or in `scratch`.
  std::span<const std::uint8_t> record(std::int64_t index, ByteBuffer& scratch) const;
  /// Gives back the memory; the file is not used any more.
  ByteBuffer release() { return std::move(memory_); }

 private:
  InputFile file_;
  ByteBuffer memory_;
  std::optional<std::span<const std::uint8_t>> content_;  // of a compressed file
  std::vector<std::int64_t> ends_;                        // where each record ends, its last check sum included
};

/// Whether bytes begin with a record: a length whose check sum is right.
bool begins_with_record(std::span<const std::uint8_t> bytes);

/// What stands around the content of a record: its length before it, check sums of both.
struct RecordFrame {
  std::array<std::uint8_t, 12> front;
  std::array<std::uint8_t, 4> back;
};
RecordFrame frame_of(std::span<const std::uint8_t> record);

/// Writes records, one after another.
class TfrecordWriter {
 public:
  TfrecordWriter(const std::filesystem::path& path, bool gzip);

  void write(std::span<const std::uint8_t> record);
  /// Gives the file its name.
  void commit() { file_.commit(); }

 private:
  ArchiveWriter file_;
};

}  // namespace isobar::files
