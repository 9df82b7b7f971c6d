#include "isobar/feeding/stage_folder.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <map>
#include <sys/file.h>
#include <unistd.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::feeding {
namespace {

namespace fs = std::filesystem;

fs::path view_of(int rank) { return fmt::format("rank-{}", rank); }

// The name of a file seen again: "a.tfrecord.gz" becomes "a~1.tfrecord.gz", in the same folder and of the same kind.
fs::path repeated(const fs::path& file, int times) {
  if (times == 0) return file;
  const std::string name = file.filename().string();
  const std::size_t dot = name.find('.', 1);
  const std::string ending = dot == std::string::npos ? "" : name.substr(dot);
  return file.parent_path() / fmt::format("{}~{}{}", name.substr(0, dot), times, ending);
}

}  // namespace

StageFolder::StageFolder(const fs::path& to, const StagePlan& plan, int node) : plan_(plan), node_(node) {
  final_ = fs::absolute(to).lexically_normal() / ("stage-" + plan.fingerprint(node));
  partial_ = final_.string() + ".partial";
}

StageFolder::~StageFolder() {
  if (lock_ >= 0) ::close(lock_);
}

std::string StageFolder::manifest() const {
  std::string text = "isobar stage 1\n";
  for (std::size_t f = 0; f < plan_.list().files.size(); ++f) {
    const StageFile& file = plan_.list().files[f];
    text += fmt::format("{} {} {}\n", file.bytes, file.changed, plan_.list().original(file).string());
  }
  return text;
}

bool StageFolder::finished() const {
  std::ifstream in(final_ / "manifest", std::ios::binary);
  const std::string held{std::istreambuf_iterator<char>(in), {}};
  if (!in || held != manifest()) return false;
  std::error_code code;
  for (std::size_t f = 0; f < plan_.list().files.size(); ++f) {
    if (!plan_.wants(node_, f)) continue;
    const StageFile& file = plan_.list().files[f];
    const auto bytes = fs::file_size(final_ / "files" / plan_.list().staged(file.source, file.name), code);
    if (code || bytes != static_cast<std::uintmax_t>(file.bytes)) return false;
  }
  return true;
}

void StageFolder::begin() {
  std::error_code code;
  const fs::path to = final_.parent_path();
  fs::create_directories(to, code);
  if (code) fail("staging folder {}: cannot be made: {}", to.string(), code.message());
  const std::string lock = final_.string() + ".lock";
  lock_ = ::open(lock.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (lock_ < 0) fail("staging folder {}: cannot be written to: {}", to.string(), std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0)
    fail("staging folder {}: another job is staging the same files there; wait for it, or give another folder",
         final_.string());
  fs::remove_all(partial_, code);
  const std::int64_t wanted = plan_.bytes_for(node_);
  const fs::space_info space = fs::space(to, code);
  if (!code && space.available < static_cast<std::uintmax_t>(wanted))
    fail("staging folder {}: {} are needed, {} are free", to.string(), human_bytes(wanted),
         human_bytes(space.available));
  fs::create_directory(partial_, code);
  if (code) fail("staging folder {}: cannot be made: {}", partial_.string(), code.message());
}

fs::path StageFolder::unfinished(const StageFile& file) const {
  return partial_ / "files" / plan_.list().staged(file.source, file.name);
}

void StageFolder::make_view(int rank) const {
  std::map<std::int64_t, int> times;
  for (const std::int64_t number : plan_.seen_by(rank)) {
    const StageFile& file = plan_.list().files[number];
    const fs::path place =
        partial_ / view_of(rank) / repeated(plan_.list().staged(file.source, file.name), times[number]++);
    fs::create_directories(place.parent_path());
    fs::create_hard_link(unfinished(file), place);
  }
}

void StageFolder::finish() {
  try {
    if (plan_.shares_out())
      for (const int rank : plan_.ranks_of(node_)) make_view(rank);
    std::ofstream out(partial_ / "manifest", std::ios::binary);
    out << manifest();
    out.close();
    if (!out) fail("{}: cannot be written", (partial_ / "manifest").string());
    fs::remove_all(final_);
    fs::rename(partial_, final_);
  } catch (const fs::filesystem_error& error) {
    fail("staging folder {}: {}", partial_.string(), error.what());
  }
}

void StageFolder::discard() noexcept {
  std::error_code ignored;
  try {
    fs::remove_all(partial_, ignored);
  } catch (...) {  // out of memory: the folder stays, and the next run removes it
  }
}

std::string StageFolder::path_of(std::int64_t source, int rank) const {
  const StageSource& named = plan_.list().sources[source];
  fs::path inside = named.inside;
  // The folder holds only files of the pattern, and the name of a repeated file may not match the pattern.
  if (named.pattern && plan_.shares_out()) inside = inside.parent_path();
  const fs::path view = plan_.shares_out() ? view_of(rank) : fs::path("files");
  return (final_ / view / plan_.list().staged(source, inside.string())).lexically_normal().string();
}

}  // namespace isobar::feeding
