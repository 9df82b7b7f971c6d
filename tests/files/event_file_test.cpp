// Event files, read back by a separate reader.
#include "isobar/files/event_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isobar/files/image.hpp"

#include "tests/event_reader.hpp"
#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::files {
namespace {

using namespace isobar::tests;
namespace fs = std::filesystem;

Image ramp(std::int64_t height, std::int64_t width) {
  Image image{height, width, 3, {}};
  for (std::int64_t i = 0; i < height * width * 3; ++i) image.pixels.push_back(static_cast<std::uint8_t>(i));
  return image;
}

TEST(EventFile, ScalarsAsTheFormatHasThem) {
  EventSummary summary;
  EXPECT_TRUE(summary.empty());
  summary.scalar("a/b", 1.5);
  // Summary.value = 1 {tag = 1: "a/b", simple_value = 2: 1.5}
  const std::uint8_t expected[] = {0x0A, 10, 0x0A, 3, 'a', '/', 'b', 0x15, 0, 0, 0xC0, 0x3F};
  EXPECT_EQ(std::vector<std::uint8_t>(summary.message().message().begin(), summary.message().message().end()),
            std::vector<std::uint8_t>(std::begin(expected), std::end(expected)));
}

TEST(EventFile, EveryKindOfValueIsReadBack) {
  const TemporaryFolder folder;
  EventFile file(folder.path());
  EventSummary first, second;
  first.scalar("train/loss", 0.1);
  first.scalar("train/nan", std::numeric_limits<double>::quiet_NaN());
  second.text("recipe/text_summary", "# Recipe\n\n    lr = 0.1\n");
  second.histogram("weights/w", {-1, 3, 4, 2.5, 11, {0, 3}, {1, 3}});
  second.image("sample_0/input", ramp(5, 7));
  file.restart(12);
  file.write(12, first);
  file.write(13, {});
  file.write(std::int64_t{1} << 40, second);
  EXPECT_TRUE(file.close());

  const std::vector<SeenEvent> events = read_events(file.path());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[0].step, 0);
  EXPECT_GT(events[0].wall_time, 1.6e9);
  EXPECT_EQ(events[1].session, 1u);  // START
  EXPECT_EQ(events[1].step, 12);
  EXPECT_FALSE(events[2].session);
  ASSERT_EQ(events[2].values.size(), 2u);
  EXPECT_EQ(events[2].values[0].scalar, 0.1f);
  EXPECT_TRUE(std::isnan(events[2].values[1].scalar.value()));
  ASSERT_EQ(events[3].values.size(), 3u);
  EXPECT_EQ(events[3].step, std::int64_t{1} << 40);
  EXPECT_EQ(events[3].values[0].text, "# Recipe\n\n    lr = 0.1\n");
  EXPECT_EQ(events[3].values[0].plugin, "text");
  const SeenHistogram& histogram = events[3].values[1].histogram.value();
  EXPECT_EQ(histogram.min, -1);
  EXPECT_EQ(histogram.max, 3);
  EXPECT_EQ(histogram.count, 4);
  EXPECT_EQ(histogram.sum, 2.5);
  EXPECT_EQ(histogram.sum_of_squares, 11);
  EXPECT_EQ(histogram.limits, (std::vector<double>{0, 3}));
  EXPECT_EQ(histogram.counts, (std::vector<double>{1, 3}));
  const SeenImage& picture = events[3].values[2].image.value();
  EXPECT_EQ(picture.height, 5u);
  EXPECT_EQ(picture.width, 7u);
  EXPECT_EQ(picture.channels, 3u);
  Image decoded;
  decode_image({reinterpret_cast<const std::uint8_t*>(picture.file.data()), picture.file.size()}, {}, decoded);
  EXPECT_EQ(decoded.pixels, ramp(5, 7).pixels);
}

TEST(EventFile, CutAnywhereItIsGoodUpToTheCut) {
  const TemporaryFolder folder;
  EventFile file(folder.path());
  for (std::int64_t step = 1; step <= 3; ++step) {
    EventSummary summary;
    summary.scalar("loss", 1.0 / static_cast<double>(step));
    file.write(step, summary);
  }
  EXPECT_TRUE(file.close());
  const std::string bytes = bytes_in(file.path());
  std::vector<std::size_t> ends{0};
  for (const std::string_view record : whole_records(bytes)) ends.push_back(ends.back() + record.size() + 16);
  ASSERT_EQ(ends.size(), 5u);
  ASSERT_EQ(ends.back(), bytes.size());
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const auto records = whole_records(std::string_view(bytes).substr(0, cut));
    EXPECT_EQ(records.size() + 1, static_cast<std::size_t>(std::ranges::upper_bound(ends, cut) - ends.begin()));
    for (const std::string_view record : records) EXPECT_NO_THROW(read_event(record));
  }
  std::string damaged = bytes;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    damaged[at] = static_cast<char>(damaged[at] ^ 16);
    EXPECT_THROW(whole_records(damaged), std::runtime_error) << at;
    damaged[at] = bytes[at];
  }
}

TEST(EventFile, NamesSortInTheOrderOfTheirMaking) {
  const TemporaryFolder folder;
  EXPECT_TRUE(event_files(folder / "not_there").empty());
  std::vector<fs::path> made;
  for (int i = 0; i < 3; ++i) made.push_back(EventFile(folder.path()).path());  // within one second, perhaps
  std::ofstream(folder / "events.out.tfevents.9000000000.ahead");               // the clock was set back since
  std::ofstream(folder / "another.txt");
  made.push_back(folder / "events.out.tfevents.9000000000.ahead");
  made.push_back(EventFile(folder.path()).path());
  EXPECT_EQ(event_files(folder.path()), made);
}

TEST(EventFile, WhereNothingCanBeWrittenIsAnError) {
  const TemporaryFolder folder;
  EXPECT_HAS(error_of([&] { EventFile(folder / "missing/too"); }), "cannot be written: No such file or directory");
}

}  // namespace
}  // namespace isobar::files
