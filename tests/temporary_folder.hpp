// A folder for one test: new, empty, and removed with all it holds. What lies beside it is nothing: the reports of runs
// look at the folders around them, and would find those of other tests.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <stdlib.h>
#include <string>

namespace isobar::tests {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "isobar-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder can be made");
    outer_ = name;
    path_ = outer_ / "folder";
    std::filesystem::create_directory(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(outer_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path outer_, path_;
};

}  // namespace isobar::tests
