#include "isobar/disk/disk_warnings.hpp"

#include <vector>

#include <fmt/format.h>

#include "isobar/base/text.hpp"

namespace isobar::disk {

namespace fs = std::filesystem;

static std::string lines_text(std::int64_t lines) {
  return fmt::format("{} line{}", with_commas(lines), lines == 1 ? "" : "s");
}

DiskWarnings::DiskWarnings(std::function<void(const std::string&)> tell) : tell_(std::move(tell)) {
  if (!tell_) tell_ = [](const std::string& line) { fmt::print(stderr, "isobar: {}\n", line); };
}

void DiskWarnings::tell(const std::string& line) {
  if (loud_) tell_(line);
}

void DiskWarnings::tell_once(const fs::path& file, const std::string& cause, const char* then) {
  if (told_.empty()) first_ = file, hit_ = 0, lost_now_ = 0;
  if (told_.insert(cause).second)
    tell(fmt::format("warning: {} cannot be written: {}; {}", file.string(), one_line(cause, 400), then));
}

void DiskWarnings::note_lost(const fs::path& file, std::int64_t lines) {
  lost_[file] += lines;
  lost_now_ += lines;
}

void DiskWarnings::failed(const fs::path& file, const std::string& cause) {
  const std::lock_guard lock(mutex_);
  tell_once(file, cause, "the run goes on, and tries again");
  if (waiting_.insert(file).second) ++hit_;
}

void DiskWarnings::wrote(const fs::path& file, std::int64_t lost) {
  const std::lock_guard lock(mutex_);
  if (lost > 0) note_lost(file, lost);
  if (waiting_.erase(file) == 0 || !waiting_.empty()) return;
  const std::string others =
      hit_ > 1 ? fmt::format(" and {} other file{}", hit_ - 1, hit_ > 2 ? "s" : "") : std::string();
  tell(fmt::format("{}{} can be written again; {}", first_.string(), others,
                   lost_now_ == 0 ? "nothing was lost" : fmt::format("{} lost", lines_text(lost_now_))));
  told_.clear();
}

void DiskWarnings::given_up(const fs::path& file, const std::string& cause, std::int64_t lost) {
  const std::lock_guard lock(mutex_);
  tell_once(file, cause, "the run goes on without it");
  waiting_.erase(file);
  note_lost(file, lost);
}

void DiskWarnings::conclude() {
  const std::lock_guard lock(mutex_);
  for (const fs::path& file : waiting_) lost_.try_emplace(file, 0);
  std::vector<std::string> names;
  for (const auto& [file, lines] : lost_)
    names.push_back(lines == 0 ? file.string() : fmt::format("{} ({})", file.string(), lines_text(lines)));
  if (!names.empty()) tell(fmt::format("warning: missing, since it could not be written: {}", join(names, ", ")));
  lost_.clear();
  waiting_.clear();
  told_.clear();
}

void DiskWarnings::speak(bool loud) {
  const std::lock_guard lock(mutex_);
  loud_ = loud;
}

DiskWarnings& disk_warnings() {
  static auto* const warnings = new DiskWarnings;  // never destroyed: threads may write until the process ends
  return *warnings;
}

}  // namespace isobar::disk
