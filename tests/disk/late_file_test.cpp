// Late files on disks that are full, slow, gone or small: callers never wait, files hold only complete pieces, and the
// user is told once.
#include "isobar/disk/late_file.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/small_disk.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::disk {
namespace {

namespace fs = std::filesystem;
using tests::TemporaryFolder;
using tests::with_own_mounts;

std::string late_text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string lines(int first, int last) {
  std::string text;
  for (int i = first; i < last; ++i) text += fmt::format("line {}\n", i);
  return text;
}

/// A disk in memory that can be full, or hang.
struct FakeDisk {
  std::mutex mutex;
  std::condition_variable changed;
  std::string content;
  int error = 0;
  bool hangs = false, hanging = false;

  int outcome() {
    std::unique_lock lock(mutex);
    hanging = hangs;
    changed.notify_all();
    changed.wait(lock, [&] { return !hangs; });
    hanging = false;
    return error;
  }
  void set_error(int number) {
    const std::lock_guard lock(mutex);
    error = number;
  }
  void set_hangs(bool on) {
    const std::lock_guard lock(mutex);
    hangs = on;
    changed.notify_all();
  }
  void wait_until_it_hangs() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return hanging; });
  }
  std::string text() {
    const std::lock_guard lock(mutex);
    return content;
  }
};

class FakeFile final : public LateTarget {
 public:
  explicit FakeFile(FakeDisk& disk) : disk_(disk) {}
  int open(std::int64_t& kept) override {
    const std::lock_guard lock(disk_.mutex);
    kept = std::min(kept, std::ssize(disk_.content));
    disk_.content.resize(static_cast<std::size_t>(kept));
    return disk_.error;
  }
  int write(std::int64_t at, const std::string& bytes, std::string_view tail) override {
    const int problem = disk_.outcome();
    const std::lock_guard lock(disk_.mutex);
    if (problem == 0) disk_.content = disk_.content.substr(0, static_cast<std::size_t>(at)) + bytes + std::string(tail);
    return problem;
  }
  int read(std::int64_t end, std::string& bytes) override {
    bytes = disk_.text().substr(0, static_cast<std::size_t>(end));
    return 0;
  }
  int replace(std::string_view bytes) override {
    const int problem = disk_.outcome();
    const std::lock_guard lock(disk_.mutex);
    if (problem == 0) disk_.content = bytes;
    return problem;
  }

 private:
  FakeDisk& disk_;
};

class LateFiles : public testing::Test {
 protected:
  LateFile on_fake_disk(std::int64_t kept = 0, std::size_t most_bytes = 1 << 20) {
    return LateFile("run/metrics.jsonl", std::make_unique<FakeFile>(disk), kept,
                    {.most_bytes = most_bytes, .tail = "", .warnings = &warnings});
  }
  std::vector<std::string> heard() {
    const std::lock_guard lock(mutex);
    return told;
  }

  FakeDisk disk;
  std::mutex mutex;
  std::vector<std::string> told;
  DiskWarnings warnings{[this](const std::string& line) {
    const std::lock_guard lock(mutex);
    told.push_back(line);
  }};
};

TEST_F(LateFiles, HoldWhatWasAddedInItsOrder) {
  const TemporaryFolder folder;
  LateFile file(folder / "a.txt");
  for (int i = 0; i < 5000; ++i) file.append(lines(i, i + 1));
  EXPECT_EQ(file.length(), std::ssize(lines(0, 5000)));
  EXPECT_TRUE(file.flush());
  EXPECT_EQ(late_text_of(folder / "a.txt"), lines(0, 5000));
  file.append("the end\n");
  EXPECT_TRUE(file.close());
  EXPECT_EQ(late_text_of(folder / "a.txt"), lines(0, 5000) + "the end\n");
}

TEST_F(LateFiles, KeepTheBeginningTheyAreToldTo) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.txt") << lines(0, 10);
  {
    LateFile file(folder / "a.txt", std::ssize(lines(0, 4)));
    EXPECT_EQ(file.length(), std::ssize(lines(0, 4)));
    file.append("more\n");
  }
  EXPECT_EQ(late_text_of(folder / "a.txt"), lines(0, 4) + "more\n");
}

TEST_F(LateFiles, OnAFullDiskKeepLinesAndWarnOnce) {
  LateFile file = on_fake_disk();
  file.append(lines(0, 1));
  ASSERT_TRUE(file.flush());
  disk.set_error(ENOSPC);
  for (int i = 1; i < 5; ++i) {
    file.append(lines(i, i + 1));
    EXPECT_FALSE(file.flush());
  }
  EXPECT_EQ(disk.text(), lines(0, 1));
  ASSERT_EQ(heard().size(), 1u);
  EXPECT_HAS(heard()[0], "run/metrics.jsonl cannot be written: No space left on device");
  disk.set_error(0);
  EXPECT_TRUE(file.flush());
  EXPECT_EQ(disk.text(), lines(0, 5));
  ASSERT_EQ(heard().size(), 2u);
  EXPECT_HAS(heard()[1], "can be written again; nothing was lost");
  // A second outage gives a second warning.
  disk.set_error(EDQUOT);
  file.append(lines(5, 6));
  EXPECT_FALSE(file.flush());
  ASSERT_EQ(heard().size(), 3u);
  EXPECT_HAS(heard()[2], "quota");
  disk.set_error(0);
}

TEST_F(LateFiles, DropTheOldestWholeLinesBeyondTheirBound) {
  LateFile file = on_fake_disk(0, 1000);
  disk.set_error(ENOSPC);
  for (int i = 100; i < 1000; ++i) file.append(lines(i, i + 1));
  EXPECT_FALSE(file.flush());
  disk.set_error(0);
  EXPECT_TRUE(file.flush());
  // The head of a file stays, and as many of the last lines as fit: all are 9 bytes long.
  const int kept = 1000 / 9;
  EXPECT_EQ(disk.text(), lines(100, 101) + lines(1000 - kept + 1, 1000));
  EXPECT_EQ(file.length(), std::ssize(disk.text()));
  ASSERT_EQ(heard().size(), 2u);
  EXPECT_HAS(heard()[1], fmt::format("{} lines lost", 900 - kept));
}

TEST_F(LateFiles, ADiskThatHangsIsNotWaitedFor) {
  LateFile file = on_fake_disk(0, 1000);
  disk.set_hangs(true);
  file.append(lines(0, 1));
  disk.wait_until_it_hangs();
  for (int i = 1; i < 1000; ++i) file.append(lines(i, i + 1));
  EXPECT_FALSE(file.flush(0.01));
  disk.set_hangs(false);
  EXPECT_TRUE(file.flush());
  const std::string text = disk.text();
  EXPECT_TRUE(text.starts_with(lines(0, 1))) << "what was under way";
  EXPECT_TRUE(text.ends_with(lines(950, 1000)));
  EXPECT_LE(text.size(), 1100u);
}

TEST_F(LateFiles, ClosedWhileTheDiskIsFullGiveUpWhatIsMissing) {
  LateFile file = on_fake_disk();
  disk.set_error(ENOSPC);
  file.append(lines(0, 1));
  file.append(lines(1, 2));
  EXPECT_FALSE(file.close());
  EXPECT_FALSE(file.is_open());
  ASSERT_EQ(heard().size(), 1u) << "one outage";
  warnings.conclude();
  ASSERT_EQ(heard().size(), 2u);
  EXPECT_HAS(heard()[1], "run/metrics.jsonl (2 lines)");
}

TEST_F(LateFiles, SeveralOnOneDiskAreOneWarning) {
  LateFile first = on_fake_disk();
  LateFile second("run/timing.jsonl", std::make_unique<FakeFile>(disk), 0, {.warnings = &warnings});
  disk.set_error(ENOSPC);
  first.append("a\n");
  second.append("b\n");
  EXPECT_FALSE(first.flush());
  EXPECT_FALSE(second.flush());
  EXPECT_EQ(heard().size(), 1u);
  warnings.given_up("run/report.html", "No space left on device");
  EXPECT_EQ(heard().size(), 1u);
  disk.set_error(0);
  EXPECT_TRUE(first.flush());
  EXPECT_TRUE(second.flush());
  ASSERT_EQ(heard().size(), 2u);
  EXPECT_HAS(heard()[1], "and 1 other file can be written again");
  warnings.conclude();
  ASSERT_EQ(heard().size(), 3u);
  EXPECT_HAS(heard()[2], "missing, since it could not be written: run/report.html");
}

TEST_F(LateFiles, WhereNothingCanBeWrittenAreAnErrorAtOnce) {
  const TemporaryFolder folder;
  EXPECT_HAS(tests::error_of([&] { LateFile file(folder / "none/a.txt"); }), "none/a.txt: cannot be written: No such");
  EXPECT_HAS(tests::error_of([&] { LateFile file(folder.path()); }), "Is a directory");
  disk.set_error(EROFS);
  EXPECT_HAS(tests::error_of([&] { on_fake_disk(); }), "run/metrics.jsonl: cannot be written: Read-only");
  disk.set_error(ENOSPC);
  LateFile file = on_fake_disk();  // a full disk is not an error: it may have space soon
  disk.set_error(0);
  file.append("a\n");
  EXPECT_TRUE(file.flush());
  EXPECT_EQ(disk.text(), "a\n");
}

TEST_F(LateFiles, AFileThatVanishesIsMadeAgain) {
  const TemporaryFolder folder;
  LateFile file(folder / "a.txt", 0, {.warnings = &warnings});
  file.append("one\n");
  ASSERT_TRUE(file.flush());
  fs::remove(folder / "a.txt");
  file.append("two\n");
  file.flush();
  EXPECT_TRUE(file.flush());
  EXPECT_EQ(late_text_of(folder / "a.txt"), "two\n");
  EXPECT_EQ(file.length(), 4);
  EXPECT_EQ(heard().size(), 2u);
}

TEST_F(LateFiles, AFolderThatVanishesAndComesBackLosesNothingNew) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "run");
  LateFile file(folder / "run/a.txt", 0, {.warnings = &warnings});
  fs::remove_all(folder / "run");
  file.append("one\n");
  EXPECT_FALSE(file.flush());
  EXPECT_FALSE(file.flush());
  fs::create_directory(folder / "run");
  EXPECT_TRUE(file.flush());
  EXPECT_EQ(late_text_of(folder / "run/a.txt"), "one\n");
}

TEST_F(LateFiles, EndWithTheirClosingTextAfterEveryWrite) {
  const TemporaryFolder folder;
  LateFile file(folder / "a.json", 0, {.tail = "\n]\n", .warnings = &warnings});
  file.append("[\n1");
  ASSERT_TRUE(file.flush());
  EXPECT_EQ(late_text_of(folder / "a.json"), "[\n1\n]\n");
  file.append(",\n2");
  ASSERT_TRUE(file.flush());
  EXPECT_EQ(late_text_of(folder / "a.json"), "[\n1,\n2\n]\n");
  EXPECT_EQ(file.length(), 6);
}

TEST_F(LateFiles, ReplaceTheirFirstLineInItsTurn) {
  const TemporaryFolder folder;
  LateFile file(folder / "a.csv");
  file.append("x\n");
  file.append("1\n");
  file.replace_first_line("x,y\n");
  file.append("2,3\n");
  EXPECT_TRUE(file.flush());
  EXPECT_EQ(late_text_of(folder / "a.csv"), "x,y\n1\n2,3\n");
  EXPECT_EQ(file.length(), 10);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << "nothing is left beside it";
}

TEST_F(LateFiles, WholeOnesShowTheirLastContent) {
  const TemporaryFolder folder;
  LateFile file = LateFile::whole(folder / "a.svg");
  EXPECT_FALSE(fs::exists(folder / "a.svg"));
  for (const char* content : {"<a/>", "<bb/>", "<c/>"}) file.replace(content);
  EXPECT_TRUE(file.flush());
  EXPECT_EQ(late_text_of(folder / "a.svg"), "<c/>");
}

// On a disk of 64 KiB; the test runs itself where that is mounted.
TEST_F(LateFiles, OnARealDiskThatIsFullAreWhole) {
  const char* small = std::getenv("ISOBAR_SMALL_DISK");
  if (!small) {
    if (with_own_mounts().empty()) GTEST_SKIP() << "no small disk can be mounted here";
    const TemporaryFolder folder;
    const std::string mount = "mount -t tmpfs -o size=64k none " + folder.path().string(),
                      self = fs::read_symlink("/proc/self/exe").string() +
                             " --gtest_filter=LateFiles.OnARealDiskThatIsFullAreWhole > /dev/null";
    const std::string command = with_own_mounts() + "sh -c '" + mount +
                                " && ISOBAR_SMALL_DISK=" + folder.path().string() + " exec " + self + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return;
  }
  const fs::path folder = small;
  const auto fill = [&] {
    std::ofstream out(folder / "filler", std::ios::binary);
    for (int i = 0; out && i < 1000; ++i) out.write(std::string(1024, 'x').data(), 1024).flush();
  };
  LateFile file(folder / "a.txt", 0, {.warnings = &warnings});
  LateFile closed(folder / "a.json", 0, {.tail = "\n]\n", .warnings = &warnings});
  file.append(lines(0, 100));
  closed.append("[\n0");
  ASSERT_TRUE(file.flush() && closed.flush());
  fill();
  for (int i = 100; i < 3000; ++i) file.append(lines(i, i + 1));
  for (int i = 0; i < 3000; ++i) closed.append(",\n1");
  EXPECT_FALSE(file.flush());
  EXPECT_FALSE(closed.flush());
  const std::string torn = late_text_of(folder / "a.txt");
  EXPECT_TRUE(torn.starts_with(lines(0, 100)));
  EXPECT_TRUE(torn.ends_with("\n")) << "no half line: " << torn.size();
  EXPECT_TRUE(late_text_of(folder / "a.json").ends_with("\n]\n"));
  EXPECT_EQ(heard().size(), 1u);
  fs::remove(folder / "filler");
  EXPECT_TRUE(file.flush());
  EXPECT_TRUE(closed.flush());
  EXPECT_EQ(late_text_of(folder / "a.txt"), lines(0, 3000));
  EXPECT_EQ(late_text_of(folder / "a.json").size(), 3u + 3000 * 3 + 3);
  EXPECT_EQ(heard().size(), 2u);
}

}  // namespace
}  // namespace isobar::disk
