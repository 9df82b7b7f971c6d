// Field numbers are those of tensorflow/core/util/event.proto and framework/summary.proto, tensor.proto.
#include "isobar/files/event_file.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/files/tfrecord_file.hpp"

namespace isobar::files {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_begin = "events.out.tfevents.";

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "localhost";
}

// The seconds in the name of an event file; 0 if there are none.
std::int64_t seconds_in(const fs::path& path) {
  const std::string name = path.filename().string();
  std::int64_t seconds = 0;
  std::from_chars(name.data() + name_begin.size(), name.data() + name.size(), seconds);
  return seconds;
}

// Ten digits sort the same way as text and as numbers. The order survives a clock set back, or two runs in one second.
fs::path next_name(const fs::path& folder) {
  auto seconds = static_cast<std::int64_t>(wall_seconds());
  for (const fs::path& there : event_files(folder)) seconds = std::max(seconds, seconds_in(there) + 1);
  return folder / fmt::format("{}{:010}.{}", name_begin, seconds, host_name());
}

WireWriter event_at(std::int64_t step) {
  WireWriter event;
  event.real(1, wall_seconds());
  event.varint(2, step);
  return event;
}

}  // namespace

void EventSummary::scalar(std::string_view tag, double value) {
  WireWriter entry;
  entry.text(1, tag);
  entry.single(2, static_cast<float>(value));
  message_.message(1, entry);
}

void EventSummary::image(std::string_view tag, const Image& image) {
  WireWriter picture;
  picture.varint(1, image.height);
  picture.varint(2, image.width);
  picture.varint(3, image.channels);
  picture.bytes(4, encode_png(image));
  WireWriter entry;
  entry.text(1, tag);
  entry.message(4, picture);
  message_.message(1, entry);
}

void EventSummary::histogram(std::string_view tag, const Histogram& histogram) {
  expects(histogram.limits.size() == histogram.counts.size(), "a count for each limit");
  WireWriter numbers;
  numbers.real(1, histogram.min);
  numbers.real(2, histogram.max);
  numbers.real(3, histogram.count);
  numbers.real(4, histogram.sum);
  numbers.real(5, histogram.sum_of_squares);
  numbers.reals(6, histogram.limits);
  numbers.reals(7, histogram.counts);
  WireWriter entry;
  entry.text(1, tag);
  entry.message(5, numbers);
  message_.message(1, entry);
}

void EventSummary::text(std::string_view tag, std::string_view markdown) {
  constexpr std::uint64_t string_type = 7;
  WireWriter extent, shape, tensor, plugin, metadata, entry;
  extent.varint(1, 1);
  shape.message(2, extent);
  tensor.varint(1, string_type);
  tensor.message(2, shape);
  tensor.text(8, markdown);
  plugin.text(1, "text");
  metadata.message(1, plugin);
  entry.text(1, tag);
  entry.message(8, tensor);
  entry.message(9, metadata);
  message_.message(1, entry);
}

EventFile::EventFile(const fs::path& folder) : path_(next_name(folder)), file_(path_, 0, {.makes_folder = true}) {
  WireWriter event = event_at(0);
  event.text(3, "brain.Event:2");
  append(event);
}

void EventFile::restart(std::int64_t step) {
  constexpr std::uint64_t start = 1;
  WireWriter session, event = event_at(step);
  session.varint(1, start);
  event.message(7, session);
  append(event);
}

void EventFile::write(std::int64_t step, const EventSummary& summary) {
  if (summary.empty()) return;
  WireWriter event = event_at(step);
  event.message(5, summary.message());
  append(event);
}

// A record is one piece: the file holds all of it, or nothing.
void EventFile::append(const WireWriter& event) {
  const RecordFrame frame = frame_of(event.message());
  std::string record;
  for (const std::span<const std::uint8_t> part :
       {std::span<const std::uint8_t>(frame.front), event.message(), std::span<const std::uint8_t>(frame.back)})
    record.append(reinterpret_cast<const char*>(part.data()), part.size());
  file_.append(std::move(record));
}

std::vector<fs::path> event_files(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem))
    if (entry.path().filename().string().starts_with(name_begin)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

}  // namespace isobar::files
