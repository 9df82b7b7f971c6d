#include "isobar/record/rank_file.hpp"

#include <charconv>

#include "isobar/base/error.hpp"

namespace isobar::record {

namespace fs = std::filesystem;

static void remove_other_ranks(const fs::path& folder, int ranks) {
  std::error_code ignored;
  std::vector<fs::path> gone;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    int rank = -1;
    if (!name.starts_with("rank")) continue;
    const auto [end, problem] = std::from_chars(name.data() + 4, name.data() + name.size(), rank);
    if (problem == std::errc() && *end == '.' && rank >= ranks) gone.push_back(entry.path());
  }
  for (const fs::path& file : gone) fs::remove(file, ignored);
}

std::optional<fs::path> rank_file(const train::Start& start, const std::string& kind, const std::string& extension) {
  std::error_code ignored;
  if (start.rank > 0 && !fs::exists(start.folder, ignored)) return std::nullopt;
  const fs::path folder = start.folder / kind;
  if (start.rank == 0) remove_other_ranks(folder, start.ranks);
  return folder / fmt::format("rank{}{}", start.rank, extension);
}

}  // namespace isobar::record
