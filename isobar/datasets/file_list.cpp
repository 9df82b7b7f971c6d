#include "isobar/datasets/file_list.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <string>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::datasets {
namespace {

namespace fs = std::filesystem;

bool hidden(const fs::path& file) { return file.filename().string().starts_with('.'); }

std::vector<fs::path> matching(const fs::path& pattern) {
  const fs::path folder = pattern.has_parent_path() ? pattern.parent_path() : fs::path(".");
  const std::string name = pattern.filename().string();
  std::vector<fs::path> found;
  std::error_code code, ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code))
    if (fnmatch(name.c_str(), entry.path().filename().c_str(), FNM_PERIOD) == 0 && entry.is_regular_file(ignored))
      found.push_back(pattern.has_parent_path() ? entry.path() : entry.path().filename());
  if (code) fail("{}: cannot be listed: {}", folder.string(), code.message());
  if (found.empty()) fail("{}: no file in {} matches", pattern.string(), folder.string());
  return found;
}

std::vector<fs::path> below(const fs::path& folder, std::initializer_list<std::string_view> extensions) {
  std::vector<fs::path> named, all;
  std::error_code code, ignored;
  fs::recursive_directory_iterator at(folder, fs::directory_options::follow_directory_symlink, code);
  for (; !code && at != fs::recursive_directory_iterator(); at.increment(code)) {
    if (hidden(at->path()) || !at->is_regular_file(ignored)) continue;
    (named_so(at->path(), extensions) ? named : all).push_back(at->path());
  }
  if (code) fail("{}: cannot be listed: {}", folder.string(), code.message());
  if (named.empty() && all.empty()) fail("{}: the folder holds no files", folder.string());
  return named.empty() ? all : named;
}

}  // namespace

bool named_so(const fs::path& file, std::initializer_list<std::string_view> extensions) {
  std::string extension = lower_case(file.extension().string());
  if (extension == ".gz" || extension == ".xz" || extension == ".bz2" || extension == ".zst")
    extension = lower_case(file.stem().extension().string());
  return std::ranges::find(extensions, extension) != extensions.end();
}

std::vector<fs::path> list_files(const fs::path& path, std::initializer_list<std::string_view> extensions) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  std::vector<fs::path> files;
  if (fs::is_directory(status)) files = below(path, extensions);
  else if (fs::exists(status)) return {path};
  else if (path.filename().string().find_first_of("*?[") != std::string::npos) files = matching(path);
  else fail("{}: there is no such file or folder", path.string());
  std::ranges::sort(files);
  return files;
}

std::size_t file_of(std::span<const std::int64_t> firsts, std::int64_t sample) {
  return std::ranges::upper_bound(firsts, sample) - firsts.begin() - 1;
}

std::vector<FileSpan> spans_of(std::span<const fs::path> files, std::span<const std::int64_t> firsts,
                               std::int64_t size) {
  std::vector<FileSpan> list;
  for (std::size_t f = 0; files.size() > 1 && f < files.size() && firsts[f] < size; ++f)
    if (firsts[f + 1] > firsts[f]) list.push_back({files[f], firsts[f], std::min(size, firsts[f + 1]) - firsts[f]});
  return list;
}

}  // namespace isobar::datasets
