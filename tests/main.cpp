// The main() of the tests: every process of them has a home, a cache, a folder for temporary files and one to work in
// that are its own, new and empty, and that are removed with all they hold. So no test meets what another one, or
// whoever runs it, has left behind, and none leaves anything. tests/in_own_place does the same for other commands.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace {

class OwnPlace {
 public:
  OwnPlace() {
    setenv("ISOBAR_TESTS_STARTED_IN", started_in_.c_str(), 1);  // public_data.hpp looks around there
    for (const auto& [variable, name] : {std::pair("HOME", "home"), {"XDG_CACHE_HOME", "cache"}, {"TMPDIR", "tmp"}}) {
      std::filesystem::create_directory(folder_ / name);
      setenv(variable, (folder_ / name).c_str(), 1);
    }
    setenv("TEST_TMPDIR", (folder_ / "tmp/").c_str(), 1);  // gtest's own
    std::filesystem::create_directory(folder_ / "work");
    std::filesystem::current_path(folder_ / "work");
  }
  ~OwnPlace() {
    std::error_code ignored;
    std::filesystem::current_path(started_in_, ignored);
  }
  OwnPlace(const OwnPlace&) = delete;

 private:
  const std::filesystem::path started_in_ = std::filesystem::current_path();
  const isobar::tests::TemporaryFolder folder_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const OwnPlace place;
  return RUN_ALL_TESTS();
}
