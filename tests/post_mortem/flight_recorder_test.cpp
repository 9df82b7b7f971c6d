#include "isobar/post_mortem/flight_recorder.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::post_mortem {
namespace {

std::vector<std::string> notes_of(const FlightRecorder& recorder) {
  std::vector<std::string> all;
  recorder.each_note([&](const char* what, double ago) {
    EXPECT_GE(ago, 0);
    all.emplace_back(what);
  });
  return all;
}

std::vector<std::string> sums_of(const FlightRecorder& recorder) {
  std::vector<std::string> all;
  recorder.each_sum([&](const char* what, double ago) {
    EXPECT_GE(ago, 0);
    EXPECT_LT(ago, 600) << "the age of a sum that began in this test";
    all.emplace_back(what);
  });
  return all;
}

TEST(FlightRecorder, KeepsTheLastNotesInTheirOrder) {
  const auto recorder = std::make_unique<FlightRecorder>();
  EXPECT_TRUE(notes_of(*recorder).empty());
  for (int i = 0; i < 200; ++i) recorder->note("step " + std::to_string(i));
  const auto notes = notes_of(*recorder);
  ASSERT_EQ(notes.size(), FlightRecorder::notes);
  for (std::size_t i = 0; i < notes.size(); ++i) EXPECT_EQ(notes[i], "step " + std::to_string(200 - 64 + i));
}

TEST(FlightRecorder, CutsWhatIsTooLong) {
  const auto recorder = std::make_unique<FlightRecorder>();
  recorder->note(std::string(1000, 'x'));
  EXPECT_EQ(notes_of(*recorder), std::vector<std::string>{std::string(FlightText::longest, 'x')});
}

TEST(FlightRecorder, ShowsSumsUntilTheyEnd) {
  const auto recorder = std::make_unique<FlightRecorder>();
  const auto first = recorder->begin_sum("first"), second = recorder->begin_sum("second");
  EXPECT_EQ(sums_of(*recorder), (std::vector<std::string>{"first", "second"}));
  recorder->end_sum(first);
  recorder->end_sum(first);
  EXPECT_EQ(sums_of(*recorder), std::vector<std::string>{"second"});
  recorder->forget_sums();
  EXPECT_TRUE(sums_of(*recorder).empty());
  const auto third = recorder->begin_sum("third");
  recorder->end_sum(second);  // ends late: another may be in its place
  EXPECT_EQ(sums_of(*recorder), std::vector<std::string>{"third"});
  recorder->end_sum(third);
}

TEST(FlightRecorder, HoldsManySumsAndForgetsNoneItHolds) {
  const auto recorder = std::make_unique<FlightRecorder>();
  std::vector<FlightRecorder::Sum> sums;
  for (std::size_t i = 0; i < FlightRecorder::sums + 10; ++i) sums.push_back(recorder->begin_sum("sum"));
  EXPECT_EQ(sums_of(*recorder).size(), FlightRecorder::sums);
  for (const auto sum : sums) recorder->end_sum(sum);
  EXPECT_TRUE(sums_of(*recorder).empty());
}

TEST(FlightRecorder, IsReadWhileOthersWrite) {
  const auto recorder = std::make_unique<FlightRecorder>();
  std::vector<std::jthread> writers;
  for (const char letter : {'a', 'b', 'c'})
    writers.emplace_back([&, letter] {
      for (int i = 0; i < 5000; ++i) {
        const auto sum = recorder->begin_sum(std::string(100, letter));
        recorder->note(std::string(100, letter));
        recorder->end_sum(sum);
      }
    });
  for (int i = 0; i < 200; ++i) {
    for (const std::string& note : notes_of(*recorder)) EXPECT_LE(note.size(), FlightText::longest);
    for (const std::string& sum : sums_of(*recorder)) EXPECT_EQ(sum.size(), 100u) << "a sum that is told has its name";
  }
  writers.clear();
  EXPECT_EQ(notes_of(*recorder).size(), FlightRecorder::notes);
  EXPECT_TRUE(sums_of(*recorder).empty());
}

}  // namespace
}  // namespace isobar::post_mortem
