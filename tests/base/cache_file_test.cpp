// Files in the user's cache folder: where they are, and that no problem with them is an error.
#include "isobar/base/cache_file.hpp"

#include <cstdlib>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace fs = std::filesystem;
using isobar::cache_file;
using isobar::tests::TemporaryFolder;

namespace {

// Sets an environment variable to another value, or unsets it, for the duration of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    if (value) setenv(name, value, 1);
    else unsetenv(name);
  }
  ~Variable() {
    if (old_) setenv(name_, old_->c_str(), 1);
    else unsetenv(name_);
  }
  Variable(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(CacheFile, IsInTheFolderForCachesOrElseInTheHomeFolder) {
  const Variable home("HOME", "/home/someone");
  {
    const Variable folder("XDG_CACHE_HOME", "/var/caches");
    EXPECT_EQ(cache_file("a.txt"), fs::path("/var/caches/isobar/a.txt"));
  }
  const Variable relative("XDG_CACHE_HOME", "caches");
  EXPECT_EQ(cache_file("a.txt"), fs::path("/home/someone/.cache/isobar/a.txt"));
  const Variable none("HOME", nullptr);
  EXPECT_EQ(cache_file("a.txt"), fs::path());
}

TEST(CacheFile, IsWrittenWholeWithItsFolder) {
  const TemporaryFolder folder;
  const fs::path file = folder / "new" / "isobar" / "a.txt";
  isobar::write_cache(file, "one\n");
  isobar::write_cache(file, "two\n");
  EXPECT_EQ(isobar::read_cache(file), "two\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1);  // no temporary file is left
}

TEST(CacheFile, WhatCannotBeWrittenOrReadIsNoError) {
  const TemporaryFolder folder;
  std::ofstream(folder / "plain") << "x";
  isobar::write_cache(folder / "plain" / "a.txt", "text");  // a file where a folder should be
  isobar::write_cache({}, "text");
  EXPECT_EQ(isobar::read_cache(folder / "plain" / "a.txt"), "");
  EXPECT_EQ(isobar::read_cache({}), "");
  EXPECT_EQ(isobar::read_cache(folder.path()), "");
}

TEST(CacheFile, OneThatIsFarTooLongIsNotRead) {
  const TemporaryFolder folder;
  isobar::write_cache(folder / "long", std::string(1 << 16, 'x'));
  EXPECT_EQ(isobar::read_cache(folder / "long").size(), 1u << 16);
  isobar::write_cache(folder / "long", std::string((1 << 16) + 1, 'x'));
  EXPECT_EQ(isobar::read_cache(folder / "long"), "");
}

}  // namespace
