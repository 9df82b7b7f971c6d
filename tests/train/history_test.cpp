#include "isobar/train/history.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line, nullptr, false));
  return lines;
}

// Five steps of 1 s, an evaluation of 0.5 s and a checkpoint of 0.25 s after step 3, and an end.
void write_timing(const std::filesystem::path& folder) {
  std::ofstream out(folder / "timing.jsonl");
  out << R"({"kind":"start","step":0})"
      << "\n";
  for (int step = 1; step <= 5; ++step) {
    out << R"({"kind":"step","seconds":1,"step":)" << step << "}\n";
    if (step == 3)
      out << R"({"kind":"epoch","step":3,"test_seconds":0.5})"
          << "\n"
          << R"({"kind":"checkpoint","step":3,"seconds":0.25})"
          << "\n";
  }
  out << R"({"kind":"end","step":5,"seconds":6})"
      << "\n"
      << R"({"kind":"st)";
}

TEST(History, CountsWhatIsDropped) {
  const isobar::tests::TemporaryFolder folder;
  note_start(folder.path(), "new", 0);
  write_timing(folder.path());
  note_start(folder.path(), "resumed", 3);
  note_start(folder.path(), "overwritten", 0);
  const auto lines = lines_of(folder / "history.jsonl");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["dropped_steps"], 0);
  EXPECT_EQ(lines[1]["kind"], "resumed");
  EXPECT_EQ(lines[1]["first_step"], 3);
  EXPECT_EQ(lines[1]["dropped_steps"], 2);
  EXPECT_EQ(lines[1]["dropped_seconds"], 2.0);
  EXPECT_EQ(lines[2]["dropped_steps"], 5);
  EXPECT_EQ(lines[2]["dropped_seconds"], 5.75);
  EXPECT_EQ(lines[2]["started"].get<std::string>().size(), 20u);
}

TEST(History, ALineTornByACrashDoesNotSwallowTheNext) {
  const isobar::tests::TemporaryFolder folder;
  std::ofstream(folder / "history.jsonl") << R"({"started":"2026-)";
  note_start(folder.path(), "new", 0);
  const auto lines = lines_of(folder / "history.jsonl");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_FALSE(lines[0].is_object());
  EXPECT_EQ(lines[1]["kind"], "new");
}

TEST(History, AFolderThatCannotBeWrittenIsAnError) {
  const isobar::tests::TemporaryFolder folder;
  EXPECT_HAS(isobar::tests::error_of([&] { note_start(folder / "none", "new", 0); }), "cannot be written");
}

TEST(History, SurvivesOverwritingAndResuming) {
  const isobar::tests::TemporaryFolder folder;
  const auto run = [&](bool resume, bool overwrite) {
    Job job = small_job(folder / "run");
    job.resume = resume, job.overwrite = overwrite;
    Trainer(std::move(job), {}).run();
  };
  run(false, false);
  std::filesystem::create_directories(folder / "run" / "profile");
  std::ofstream(folder / "run" / "profile" / "rank7.jsonl") << "{}\n";  // of a run on more ranks
  run(false, true);
  EXPECT_FALSE(std::filesystem::exists(folder / "run" / "profile" / "rank7.jsonl"));
  run(true, false);
  const auto lines = lines_of(folder / "run" / "history.jsonl");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["kind"], "new");
  EXPECT_EQ(lines[1]["kind"], "overwritten");
  EXPECT_EQ(lines[2]["kind"], "resumed");
  EXPECT_EQ(lines[2]["first_step"], 15);
}

}  // namespace
}  // namespace isobar::train
