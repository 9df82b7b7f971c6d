#include "isobar/files/tfrecord_file.hpp"

#include <algorithm>
#include <bit>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/crc32c.hpp"

namespace isobar::files {
namespace {

constexpr std::int64_t header = 12, footer = 4;
constexpr std::size_t window_bytes = 4096;

template <class T>
T little_endian(std::span<const std::uint8_t> bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(bytes[i]) << 8 * i;
  return value;
}

template <class T>
void put(T value, std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
}

std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xA282EAD8u; }

bool sound_header(std::span<const std::uint8_t> bytes) {
  return masked(crc32c(bytes.first(8))) == little_endian<std::uint32_t>(bytes.subspan(8));
}

// `bytes_at(place)` returns at least as many bytes from there on as a header has.
template <class F>
std::vector<std::int64_t> find_ends(std::int64_t size, F bytes_at) {
  std::vector<std::int64_t> ends;
  for (std::int64_t at = 0; at < size;) {
    if (size - at < header + footer) fail("ends inside the header of record {}", ends.size());
    const std::span<const std::uint8_t> bytes = bytes_at(at);
    if (!sound_header(bytes)) {
      if (ends.empty()) fail("is not a TFRecord file: it does not begin with a length and its checksum");
      fail("the length of record {} (byte {}) and its checksum do not agree", ends.size(), at);
    }
    const auto length = little_endian<std::uint64_t>(bytes);
    if (length > static_cast<std::uint64_t>(size - at - header - footer))
      fail("record {} (byte {}) has {} bytes, but the file ends before", ends.size(), at, length);
    at += header + static_cast<std::int64_t>(length) + footer;
    ends.push_back(at);
  }
  return ends;
}

}  // namespace

bool begins_with_record(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= static_cast<std::size_t>(header) && sound_header(bytes);
}

TfrecordFile::TfrecordFile(const std::filesystem::path& path, std::int64_t max_bytes, ByteBuffer memory)
    : file_(path), memory_(std::move(memory)) {
  try {
    std::array<std::uint8_t, window_bytes> window;
    const auto in_window = [&, first = std::int64_t{0}, last = std::int64_t{0}](std::int64_t at) mutable {
      if (at < first || at + header > last) {
        first = at, last = std::min(file_.size(), at + std::ssize(window));
        file_.read_at(first, std::span(window).first(last - first));
      }
      return std::span<const std::uint8_t>(window).subspan(at - first);
    };
    const std::size_t beginning = std::min<std::int64_t>(file_.size(), 3);
    file_.read_at(0, std::span(window).first(beginning));
    if (is_gzip(std::span(window).first(beginning))) {
      if (file_.size() > max_bytes)
        fail("has {}; max_gigabytes allows {}", human_bytes(file_.size()), human_bytes(max_bytes));
      thread_local ByteBuffer packed;
      const std::span<std::uint8_t> bytes = packed.take(file_.size());
      file_.read_at(0, bytes);
      content_ = inflate_gzip(bytes, max_bytes, memory_);
      ends_ = find_ends(content_->size(), [&](std::int64_t at) { return content_->subspan(at); });
    } else {
      ends_ = find_ends(file_.size(), in_window);
    }
  } catch (const Error& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

std::int64_t TfrecordFile::held_bytes() const {
  return static_cast<std::int64_t>(memory_.capacity() + ends_.capacity() * sizeof(ends_[0]) + sizeof(*this));
}

std::span<const std::uint8_t> TfrecordFile::record(std::int64_t index, ByteBuffer& scratch) const {
  expects(index >= 0 && index < size(), "the number of a record");
  const std::int64_t begin = (index > 0 ? ends_[index - 1] : 0) + header;
  const std::size_t count = ends_[index] - begin;
  std::span<const std::uint8_t> bytes;
  if (content_) {
    bytes = content_->subspan(begin, count);
  } else {
    const std::span<std::uint8_t> to = scratch.take(count);
    file_.read_at(begin, to);
    bytes = to;
  }
  const std::size_t length = count - static_cast<std::size_t>(footer);
  if (masked(crc32c(bytes.first(length))) != little_endian<std::uint32_t>(bytes.subspan(length)))
    fail("{}: record {}: the content and its checksum do not agree", file_.path().string(), index);
  return bytes.first(length);
}

TfrecordWriter::TfrecordWriter(const std::filesystem::path& path, bool gzip)
    : file_(path, gzip ? ArchiveWriter::Kind::gzip : ArchiveWriter::Kind::plain) {}

RecordFrame frame_of(std::span<const std::uint8_t> record) {
  RecordFrame frame;
  put<std::uint64_t>(record.size(), frame.front);
  put(masked(crc32c(std::span(frame.front).first(8))), std::span(frame.front).subspan(8));
  put(masked(crc32c(record)), frame.back);
  return frame;
}

void TfrecordWriter::write(std::span<const std::uint8_t> record) {
  const RecordFrame frame = frame_of(record);
  file_.write(frame.front);
  file_.write(record);
  file_.write(frame.back);
}

}  // namespace isobar::files
