// docs/tutorial.md works as written: its files are written and its commands run, in order, in an empty folder, with the
// built program first on the PATH and the launcher that belongs to it. Their output is compared with what the page
// shows.
#include <fstream>

#include "tests/cli/launched.hpp"

namespace {

// A fenced block of a page: ```sh has commands, ```toml a file whose name is in its first line, ```text what the
// commands before it print.
struct PageBlock {
  std::string kind;
  std::vector<std::string> lines{};
};

std::vector<PageBlock> blocks_of_page(const std::string& file) {
  std::ifstream page(file);
  std::vector<PageBlock> blocks;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3)});
    } else if (inside) {
      blocks.back().lines.push_back(line);
    }
  }
  EXPECT_FALSE(inside) << file << ": a block does not end";
  return blocks;
}

// `mpiexec` as for a user who is not root and has enough cores: with the options that tests need.
std::string own_launcher(const TemporaryFolder& folder) {
  const std::string words = launch_kinds().front().words, script = folder / "mpiexec";
  std::ofstream(script) << "#!/bin/sh\nexec " << words.substr(0, words.rfind("-n")) << " \"$@\"\n";
  fs::permissions(script, fs::perms::owner_all);
  return folder.path();
}

void write_page_file(const PageBlock& block, const TemporaryFolder& folder) {
  ASSERT_FALSE(block.lines.empty());
  ASSERT_TRUE(block.lines[0].starts_with("# ")) << "no file name: " << block.lines[0];
  std::ofstream file(folder / block.lines[0].substr(2));
  for (const std::string& line : block.lines) file << line << "\n";
}

TEST(Tutorial, WorksAsWritten) {
  const TemporaryFolder programs, folder;
  const std::string place = "cd '" + folder.path().string() + "' && PATH='" + own_launcher(programs) + ":" +
                            fs::path(ISOBAR_PROGRAM).parent_path().string() + "':\"$PATH\" && ";
  int files = 0, commands = 0;
  std::string printed;
  for (const PageBlock& block : blocks_of_page(ISOBAR_SOURCES "/docs/tutorial.md")) {
    if (block.kind == "toml") {
      ASSERT_NO_FATAL_FAILURE(write_page_file(block, folder));
      ++files;
    } else if (block.kind == "sh") {
      printed.clear();
      for (const std::string& command : block.lines) {
        const Outcome outcome = run_command(place + command);
        ASSERT_EQ(outcome.code, 0) << command << "\n" << outcome;
        printed += outcome.text;
        ++commands;
      }
    } else if (block.kind == "text") {
      for (const std::string& line : block.lines)
        EXPECT_NE(printed.find(line), std::string::npos) << "the page shows\n" << line << "\nand not\n" << printed;
    } else {
      EXPECT_EQ(block.kind, "python") << "what is to be done with this block?";  // shown, but not run
    }
  }
  EXPECT_GE(files, 1);
  EXPECT_GE(commands, 10);
  EXPECT_TRUE(fs::exists(folder / "predictions.h5"));
  EXPECT_TRUE(fs::exists(folder / "runs/volumes/report.html"));
}

}  // namespace
