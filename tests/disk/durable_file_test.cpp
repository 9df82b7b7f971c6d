#include "isobar/disk/durable_file.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::disk {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::span<const std::uint8_t> bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(DurableFile, AppearsWholeOrNotAtAll) {
  const tests::TemporaryFolder folder;
  const auto path = folder.path() / "a";
  std::ofstream(path) << "old";
  {
    DurableFile file(path, 6);
    file.write_at(3, bytes("def"));
    EXPECT_EQ(text_of(path), "old");
  }
  EXPECT_EQ(text_of(path), "old");
  DurableFile file(path, 6);
  file.write_at(3, bytes("def"));
  file.write_at(0, bytes("abc"));
  file.commit();
  EXPECT_EQ(text_of(path), "abcdef");
  const std::filesystem::directory_iterator all(folder.path());
  EXPECT_EQ(std::distance(begin(all), end(all)), 1) << "nothing else is left";
}

TEST(DurableFile, WhereItCannotBeIsAnError) {
  const tests::TemporaryFolder folder;
  EXPECT_HAS(tests::error_of([&] { DurableFile(folder.path() / "absent" / "a", 1); }), "cannot be written");
  EXPECT_HAS(tests::error_of([&] { sync_to_disk(folder.path() / "absent"); }), "cannot be brought to disk");
}

// A limit on the size of files stands for a full disk.
TEST(DurableFile, ADiskThatTakesNoMoreLeavesWhatWasThere) {
  const tests::TemporaryFolder folder;
  std::ofstream(folder.path() / "a") << "old";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = tests::error_of([&] {
    DurableFile file(folder.path() / "a", 0);
    file.write_at(0, bytes(std::string(10000, 'x')));
    file.commit();
  });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_HAS(message, "File too large");
  EXPECT_EQ(text_of(folder.path() / "a"), "old");
}

}  // namespace
}  // namespace isobar::disk
