#include "isobar/checkpoint/checkpoint_shelf.hpp"

#include <algorithm>
#include <charconv>

#include "isobar/base/error.hpp"

namespace isobar::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step_", suffix = ".h5", unfinished = ".part", aside = ".aside";

// The step in a name such as step_000120.h5.
std::optional<std::int64_t> step_in(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() <= prefix.size() + suffix.size()) return {};
  const std::string_view digits = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  std::int64_t step = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (problem != std::errc() || end != digits.data() + digits.size() || step < 0) return {};
  return step;
}

template <class Visit>
void for_each_file(const fs::path& folder, Visit visit) {
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) visit(at->path());
}

}  // namespace

CheckpointShelf::CheckpointShelf(const fs::path& run, std::int64_t keep) : folder_(run / "checkpoints"), keep_(keep) {
  expects(keep >= 1, "at least one checkpoint to keep");
}

fs::path CheckpointShelf::file_of(std::int64_t step) const {
  return folder_ / fmt::format("{}{:06}{}", prefix, step, suffix);
}

std::vector<CheckpointShelf::Item> CheckpointShelf::list() const {
  std::vector<Item> items;
  for_each_file(folder_, [&](const fs::path& file) {
    if (const auto step = step_in(file.filename().string())) items.push_back({*step, file});
  });
  std::ranges::sort(items, std::greater{}, &Item::step);
  return items;
}

CheckpointShelf::Found CheckpointShelf::newest_intact() const {
  Found found;
  for (const Item& item : list()) {
    try {
      CheckpointFile file(item.file);
      file.verify();
      found.file.emplace(std::move(file));
      return found;
    } catch (const Error& problem) {
      found.skipped.emplace_back(problem.what());
    }
  }
  return found;
}

void CheckpointShelf::prune(std::int64_t newest) const {
  std::error_code ignored;
  std::int64_t kept = 0;
  for (const Item& item : list())
    if (item.step <= newest && ++kept > keep_) fs::remove(item.file, ignored);
}

void CheckpointShelf::tidy() const {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem) fail("folder '{}' cannot be made: {}", folder_.string(), problem.message());
  std::vector<fs::path> left;
  for_each_file(folder_, [&](const fs::path& file) {
    if (file.extension() == unfinished) left.push_back(file);
  });
  for (const fs::path& file : left) fs::remove(file, problem);
}

void CheckpointShelf::set_aside_after(std::int64_t step) const {
  std::error_code ignored;
  for (const Item& item : list())
    if (item.step > step) fs::rename(item.file, item.file.string() + std::string(aside), ignored);
}

}  // namespace isobar::checkpoint
