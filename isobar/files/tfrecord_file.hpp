// TfrecordFile: TensorFlow's files of records: length, checksum of the length, content, checksum of the content; the
// checksums are masked CRC-32C. A file compressed with gzip is held in memory; of a plain file only the positions of
// the records are, and content is read on demand.
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
  /// Opens a file and finds its records; lengths that are damaged or lead out of the file are an Error. At most
  /// `max_bytes` are held in memory; `memory`, if given, is reused for them.
  explicit TfrecordFile(const std::filesystem::path& path, std::int64_t max_bytes, ByteBuffer memory = {});

  /// The number of records.
  std::int64_t size() const { return std::ssize(ends_); }
  /// The bytes of memory it uses.
  std::int64_t held_bytes() const;
  /// The content of a record after its checksum was verified; it is in the file's memory or in `scratch`.
  std::span<const std::uint8_t> record(std::int64_t index, ByteBuffer& scratch) const;
  /// Returns the memory for reuse; the file must not be used afterwards.
  ByteBuffer release() { return std::move(memory_); }

 private:
  InputFile file_;
  ByteBuffer memory_;
  std::optional<std::span<const std::uint8_t>> content_;  // of a compressed file
  std::vector<std::int64_t> ends_;                        // where each record ends, including its last checksum
};

/// Whether bytes begin with a record: a length with the right checksum.
bool begins_with_record(std::span<const std::uint8_t> bytes);

/// What surrounds the content of a record: its length before it, and checksums of both.
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
