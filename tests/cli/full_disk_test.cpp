// Runs on disks that are full, fill up, or are read-only. Each has its own disk, visible here through /proc and copied
// out of its mount namespace when the run has ended.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/base/random.hpp"

#include "tests/capture.hpp"
#include "tests/cli/launched.hpp"
#include "tests/small_disk.hpp"

namespace {

using isobar::tests::text_of;

using isobar::tests::with_own_mounts;

std::int64_t lines_of(const fs::path& file) { return std::ranges::count(text_of(file), '\n'); }

std::int64_t count_of(const std::string& text, const std::string& part) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class FullDisks : public testing::Test {
 protected:
  void SetUp() override {
    if (with_own_mounts().empty()) GTEST_SKIP() << "no small disk can be mounted here";
  }

  // A run that would take hours, on a disk mounted with `options`; `before` is done on it first.
  void start(const std::string& options, const std::string& before, const std::string& more = "") {
    disk_ = folder_ / "disk";
    fs::create_directories(disk_);
    const std::string train = fmt::format(
        "{} train {} --quiet --threads 1 --set folder={}/run --set train.epochs=1000000 --set train.evaluate_every=0 {}",
        ISOBAR_PROGRAM, small_recipe(folder_), disk_, more);
    launched_.reset();  // otherwise its destructor would kill the next launch, which has the same mark
    launched_ = std::make_unique<Launched>(
        fmt::format("{}sh -c 'mount -t tmpfs -o {} none {} && cd {} && {}{}; code=$?; cp -r run {}; exit $code'",
                    with_own_mounts(), options, disk_, disk_, before, train, folder_ / "copy"),
        folder_ / "out");
  }
  // The run's disk, while it runs.
  fs::path inside(const std::string& name) const {
    return fmt::format("/proc/{}/root{}/{}", launched_->process(), disk_, name);
  }
  fs::path copy(const std::string& name) const { return folder_ / "copy" + ("/" + name); }
  bool reaches_step(std::int64_t step) {
    return launched_->wait_until([&] { return lines_of(inside("run/metrics.jsonl")) >= step; });
  }
  void fill() const {
    std::ofstream out(inside("filler"), std::ios::binary);
    const std::string piece(512, 'x');
    while (out.write(piece.data(), std::ssize(piece)).flush()) continue;
  }
  void empty() const { fs::remove(inside("filler")); }
  Outcome stopped() {
    Launched::send_to(launched_->program(), SIGTERM);
    return launched_->outcome(120);
  }
  // Every step of the run is in the file once and in order.
  void expect_all_steps() const {
    std::istringstream in(text_of(copy("metrics.jsonl")));
    std::int64_t steps = 0, end = -1;
    for (std::string line; std::getline(in, line);) {
      const auto object = nlohmann::json::parse(line);
      if (object.at("kind") == "step") {
        EXPECT_EQ(object.at("step"), ++steps);
      }
      if (object.at("kind") == "end") end = object.at("step");
    }
    EXPECT_EQ(steps, end);
  }
  bool is_told(const std::string& part) {
    return launched_->wait_until([&] { return launched_->outcome(0).has(part); });
  }

  TemporaryFolder folder_;
  std::string disk_;
  std::unique_ptr<Launched> launched_;
};

TEST_F(FullDisks, FromTheStartAndFreedLaterCostNothing) {
  start("size=64m", "dd if=/dev/zero of=filler bs=4k 2>/dev/null; ");
  ASSERT_TRUE(is_told("cannot be written: No space left on device; the run goes on, and tries again"));
  empty();
  ASSERT_TRUE(is_told("can be written again; nothing was lost")) << launched_->outcome(0);
  const Outcome outcome = stopped();
  EXPECT_EQ(outcome.code, 130) << outcome;
  EXPECT_EQ(count_of(outcome.text, "warning"), 1) << outcome;
  expect_all_steps();
  for (const char* name : {"recipe.toml", "run.json", "history.jsonl", "metrics.csv", "report.txt", "report.html"})
    EXPECT_TRUE(fs::exists(copy(name)) && fs::file_size(copy(name)) > 0) << name;
  const Outcome used = run_isobar("eval " + copy("").string() + " --threads 1");
  EXPECT_EQ(used.code, 0) << used;
}

TEST_F(FullDisks, AReadOnlyFolderIsAnErrorBeforeTraining) {
  start("size=2m", fmt::format("mkdir run && mount -o remount,ro {} && ", folder_ / "disk"));
  const Outcome outcome = launched_->outcome(60);
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_SHOWS(outcome, "cannot be written: Read-only file system");
  EXPECT_EQ(count_of(outcome.text, "isobar: "), 1) << outcome;
  EXPECT_EQ(lines_of(copy("metrics.jsonl")), 0);
}

// Files stay whole; a step that could not be written is added when there is room again.
TEST_F(FullDisks, AtRandomMomentsAreOneWarningEach) {
  const isobar::Random random(20261116);
  for (std::uint64_t number = 0; number < 6; ++number) {
    SCOPED_TRACE(number);
    const bool freed = number % 2 == 0;
    fs::remove_all(folder_ / "copy");
    start("size=64m", "", "--set checkpoint.every_steps=25");
    // Any: the oldest is removed as soon as there are newer ones.
    const auto saved = [&] {
      std::error_code none_yet;
      const fs::directory_iterator files(inside("run/checkpoints"), none_yet);
      return std::any_of(begin(files), end(files), [](const auto& file) { return file.path().extension() == ".h5"; });
    };
    ASSERT_TRUE(launched_->wait_until(saved)) << launched_->outcome(0);
    ASSERT_TRUE(reaches_step(25 + static_cast<std::int64_t>(random.below(number, 800)))) << launched_->outcome(0);
    fill();
    ASSERT_TRUE(is_told("cannot be written: No space left on device")) << launched_->outcome(0);
    if (freed) {
      empty();
      ASSERT_TRUE(is_told("can be written again; nothing was lost")) << launched_->outcome(0);
    }
    const Outcome outcome = stopped();
    EXPECT_EQ(count_of(outcome.text, "tries again"), 1) << outcome;
    // Without a last checkpoint the run cannot be resumed where it was stopped.
    EXPECT_EQ(outcome.code, freed ? 130 : 1) << outcome;
    if (freed) expect_all_steps();
    const Outcome used = run_isobar("eval " + copy("").string() + " --threads 1");
    EXPECT_EQ(used.code, 0) << "the last good checkpoint\n" << used;
  }
}

}  // namespace
