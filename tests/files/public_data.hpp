// Finds public files for tests, if somebody put them next to the tree, in shared/data; otherwise the tests that use
// them skip themselves and say so. Also makes files with the same structures, anywhere.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace isobar::tests {

/// The folder, looked for beside the folders the tests run in, or an empty path.
inline std::filesystem::path public_data(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code code;
  const char* const started_in = std::getenv("ISOBAR_TESTS_STARTED_IN");  // tests/main.cpp has changed the folder
  for (fs::path at = started_in ? started_in : fs::current_path(); at.has_relative_path(); at = at.parent_path())
    if (const fs::path folder = at / "shared/data" / name; fs::is_directory(folder, code)) return folder;
  return {};
}

/// Runs a script next to this file to fill a folder: "make_conformance.py".
inline void make_with(const std::string& name, const std::filesystem::path& folder) {
  const auto script = std::filesystem::path(ISOBAR_SOURCES) / "tests/files" / name;
  if (std::system(("'" + script.string() + "' '" + folder.string() + "'").c_str()) != 0)
    throw std::runtime_error("the files for the tests cannot be made");
}

}  // namespace isobar::tests
