// Where public files for tests lie when somebody put them beside the tree, in shared/data; tests that use them are
// skipped, and say so, when they are not there.
#pragma once

#include <filesystem>
#include <string>

namespace isobar::tests {

/// The folder, looked for beside the folders the tests run in, or an empty path.
inline std::filesystem::path public_data(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code code;
  for (fs::path at = fs::current_path(); at.has_relative_path(); at = at.parent_path())
    if (const fs::path folder = at / "shared/data" / name; fs::is_directory(folder, code)) return folder;
  return {};
}

}  // namespace isobar::tests
