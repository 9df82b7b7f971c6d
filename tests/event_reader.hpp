// A reader of TensorBoard's event files that shares no code with the writer: its own framing, a check sum bit by bit,
// and a small parser of protocol buffers. Written from the public descriptions of TFRecord, event.proto, summary.proto.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace isobar::tests {

inline std::string bytes_in(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Castagnoli's check sum, rotated and shifted as TFRecords do it.
inline std::uint32_t masked_sum(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1u) ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  if (at + sizeof(T) > bytes.size()) throw std::runtime_error("a number beyond the end");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// The contents of the whole records a file begins with; a wrong check sum is an error, a torn end is none.
inline std::vector<std::string_view> whole_records(std::string_view file) {
  std::vector<std::string_view> found;
  while (file.size() >= 12) {
    const auto length = number_at<std::uint64_t>(file, 0);
    if (number_at<std::uint32_t>(file, 8) != masked_sum(file.substr(0, 8)))
      throw std::runtime_error("the check sum of a length is wrong");
    if (file.size() - 12 < length || file.size() - 12 - length < 4) break;
    const std::string_view content = file.substr(12, length);
    if (number_at<std::uint32_t>(file, 12 + length) != masked_sum(content))
      throw std::runtime_error("the check sum of a record is wrong");
    found.push_back(content);
    file.remove_prefix(16 + length);
  }
  return found;
}

struct Part {
  std::uint64_t field = 0, kind = 0;
  std::uint64_t number = 0;  ///< of kinds 0, 1 and 5, as bits
  std::string_view bytes{};  ///< of kind 2

  double real() const { return number_of_kind<double>(1); }
  float single() const { return number_of_kind<float>(5); }
  std::string text() const { return std::string(content()); }
  std::string_view content() const {
    if (kind != 2) throw std::runtime_error("bytes are expected");
    return bytes;
  }

 private:
  template <class T>
  T number_of_kind(std::uint64_t wanted) const {
    if (kind != wanted) throw std::runtime_error("another kind of number is expected");
    T value;
    std::memcpy(&value, &number, sizeof(T));
    return value;
  }
};

inline std::vector<Part> parts_of(std::string_view message) {
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at == message.size()) throw std::runtime_error("a message ends in a number");
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= static_cast<std::uint64_t>(byte & 127u) << shift;
      if (byte < 128u) return value;
    }
    throw std::runtime_error("a number without an end");
  };
  std::vector<Part> parts;
  while (at < message.size()) {
    const std::uint64_t head = varint();
    Part part{head >> 3, head & 7u};
    if (part.kind == 0) {
      part.number = varint();
    } else if (part.kind == 1) {
      part.number = number_at<std::uint64_t>(message, at);
      at += 8;
    } else if (part.kind == 5) {
      part.number = number_at<std::uint32_t>(message, at);
      at += 4;
    } else if (part.kind == 2) {
      const std::uint64_t length = varint();
      if (length > message.size() - at) throw std::runtime_error("bytes beyond the end");
      part.bytes = message.substr(at, length);
      at += length;
    } else {
      throw std::runtime_error("a kind of field that nobody writes");
    }
    parts.push_back(part);
  }
  return parts;
}

struct SeenHistogram {
  double min = 0, max = 0, count = 0, sum = 0, sum_of_squares = 0;
  std::vector<double> limits{}, counts{};
};

struct SeenImage {
  std::uint64_t height = 0, width = 0, channels = 0;
  std::string file{};
};

struct SeenValue {
  std::string tag{}, plugin{};
  std::optional<float> scalar{};
  std::optional<SeenImage> image{};
  std::optional<SeenHistogram> histogram{};
  std::optional<std::string> text{};
};

struct SeenEvent {
  double wall_time = 0;
  std::int64_t step = 0;
  std::string version{};
  std::optional<std::uint64_t> session{};
  std::vector<SeenValue> values{};
};

inline std::vector<double> packed_reals(std::string_view bytes) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at < bytes.size(); at += 8) numbers.push_back(number_at<double>(bytes, at));
  return numbers;
}

inline SeenImage read_image(std::string_view message) {
  SeenImage image;
  for (const Part& part : parts_of(message)) {
    if (part.field == 1) image.height = part.number;
    if (part.field == 2) image.width = part.number;
    if (part.field == 3) image.channels = part.number;
    if (part.field == 4) image.file = part.text();
  }
  return image;
}

inline SeenHistogram read_histogram(std::string_view message) {
  SeenHistogram histogram;
  for (const Part& part : parts_of(message)) {
    if (part.field == 1) histogram.min = part.real();
    if (part.field == 2) histogram.max = part.real();
    if (part.field == 3) histogram.count = part.real();
    if (part.field == 4) histogram.sum = part.real();
    if (part.field == 5) histogram.sum_of_squares = part.real();
    if (part.field == 6) histogram.limits = packed_reals(part.content());
    if (part.field == 7) histogram.counts = packed_reals(part.content());
  }
  return histogram;
}

/// The text of a tensor of type string with one element.
inline std::string read_text(std::string_view tensor) {
  std::string text;
  bool strings = false, one = false;
  for (const Part& part : parts_of(tensor)) {
    if (part.field == 1) strings = part.number == 7;
    if (part.field == 2) one = part.text() == std::string("\x12\x02\x08\x01", 4);
    if (part.field == 8) text = part.text();
  }
  if (!strings || !one) throw std::runtime_error("a tensor that is not one text");
  return text;
}

inline SeenValue read_value(std::string_view message) {
  SeenValue value;
  for (const Part& part : parts_of(message)) {
    if (part.field == 1) value.tag = part.text();
    if (part.field == 2) value.scalar = part.single();
    if (part.field == 4) value.image = read_image(part.content());
    if (part.field == 5) value.histogram = read_histogram(part.content());
    if (part.field == 8) value.text = read_text(part.content());
    if (part.field == 9) value.plugin = parts_of(parts_of(part.content()).at(0).content()).at(0).text();
  }
  return value;
}

inline SeenEvent read_event(std::string_view message) {
  SeenEvent event;
  for (const Part& part : parts_of(message)) {
    if (part.field == 1) event.wall_time = part.real();
    if (part.field == 2) event.step = static_cast<std::int64_t>(part.number);
    if (part.field == 3) event.version = part.text();
    if (part.field == 5)
      for (const Part& value : parts_of(part.content())) event.values.push_back(read_value(value.content()));
    if (part.field == 7) event.session = parts_of(part.content()).at(0).number;
  }
  return event;
}

inline std::vector<SeenEvent> read_events(const std::filesystem::path& file) {
  const std::string bytes = bytes_in(file);
  std::vector<SeenEvent> events;
  for (const std::string_view record : whole_records(bytes)) events.push_back(read_event(record));
  return events;
}

/// Everything written under a tag, by step.
inline std::map<std::int64_t, SeenValue> values_of(const std::vector<SeenEvent>& events, std::string_view tag) {
  std::map<std::int64_t, SeenValue> found;
  for (const SeenEvent& event : events)
    for (const SeenValue& value : event.values)
      if (value.tag == tag && !found.emplace(event.step, value).second)
        throw std::runtime_error("a tag is there twice in one step");
  return found;
}

}  // namespace isobar::tests
