#include "isobar/datasets/glance.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/archive.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t head_bytes = 4096;
constexpr std::size_t most_files = 64;

// Lists files below `folder`, in the order of their paths and no further than needed: sets have millions of files.
void list(const fs::path& folder, std::vector<fs::path>& to) {
  std::vector<fs::path> entries;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code))
    if (!entry.path().filename().string().starts_with('.')) entries.push_back(entry.path());
  if (code) fail("{}: cannot be listed: {}", folder.string(), code.message());
  std::ranges::sort(entries);
  for (const fs::path& entry : entries) {
    if (to.size() >= most_files) return;
    if (fs::is_directory(entry, code)) list(entry, to);
    else if (fs::is_regular_file(entry, code)) to.push_back(entry);
  }
}

// Files that people put next to data to describe it: not data, unless there is nothing else.
bool is_companion(const fs::path& file) {
  const std::string name = lower_case(file.filename().string()), extension = lower_case(file.extension().string());
  const auto any = [](std::initializer_list<std::string_view> list, auto matches) {
    return std::ranges::any_of(list, matches);
  };
  return any({"readme", "license", "licence", "copying", "source", "changelog"},
             [&](std::string_view word) { return name.starts_with(word); }) ||
         name.ends_with("sums") ||
         any({".csv", ".htm", ".html", ".json", ".md", ".md5", ".pdf", ".py", ".rst", ".sha1", ".sha256", ".toml",
              ".tsv", ".txt", ".xml", ".yaml", ".yml"},
             [&](std::string_view known) { return extension == known; });
}

}  // namespace

bool Glance::begins(std::string_view magic, std::size_t at) const {
  return head.size() >= at + magic.size() &&
         std::equal(magic.begin(), magic.end(), head.begin() + at,
                    [](char m, std::uint8_t h) { return static_cast<std::uint8_t>(m) == h; });
}

Glance glance_at(const fs::path& path) {
  Glance glance{.path = path};
  std::error_code code;
  if (!fs::exists(path, code)) fail("{}: there is no such file or folder", path.string());
  glance.folder = fs::is_directory(path, code);
  if (glance.folder) list(path, glance.inside);
  else glance.inside = {path};
  if (glance.inside.empty()) fail("{}: the folder holds no files", path.string());
  std::ranges::stable_partition(glance.inside, [](const fs::path& file) { return !is_companion(file); });
  glance.head = files::first_content(glance.inside[0], head_bytes);
  return glance;
}

}  // namespace isobar::datasets
