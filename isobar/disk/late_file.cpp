#include "isobar/disk/late_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "isobar/base/error.hpp"
#include "isobar/disk/late_state.hpp"

namespace isobar::disk {

// Whether a failed operation may succeed later. A folder that does not exist or must not be written to is the user's
// mistake, and better reported before the work begins.
static bool passes(int problem) {
  switch (problem) {
    case EACCES:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOENT:
    case ENOTDIR:
    case ENXIO:
    case EPERM:
    case EROFS: return false;
    default: return true;
  }
}

LateFile::LateFile(std::shared_ptr<LateState> state) : state_(std::move(state)) { LateWriter::instance().add(state_); }

LateFile::LateFile(std::filesystem::path path, std::int64_t kept, LateOptions options)
    : LateFile(path, std::make_unique<DiskFile>(path, options.makes_folder), kept, options) {}

LateFile::LateFile(std::filesystem::path path, std::unique_ptr<LateTarget> target, std::int64_t kept,
                   LateOptions options) {
  auto state = std::make_shared<LateState>(std::move(path), std::move(target), std::move(options));
  const int problem = state->target->open(kept);
  if (problem != 0 && !passes(problem)) throw DiskError(state->path, disk_cause(problem));
  state->open = problem == 0;
  state->length = state->written = kept;
  *this = LateFile(std::move(state));
}

LateFile LateFile::whole(std::filesystem::path path, LateOptions options) {
  auto target = std::make_unique<DiskFile>(path, options.makes_folder);
  return LateFile(std::make_shared<LateState>(std::move(path), std::move(target), std::move(options)));
}

LateFile::~LateFile() {
  constexpr double patience = 2;  // an error is being handled, or ranks wait for this one
  if (is_open()) flush(patience);
  close();
}

LateFile& LateFile::operator=(LateFile&& other) noexcept {
  close();
  state_ = std::move(other.state_);
  return *this;
}

std::int64_t LateFile::length() const {
  expects(is_open(), "an open file");
  const std::lock_guard lock(state_->mutex);
  return state_->length;
}

void LateFile::append(std::string piece) {
  expects(is_open(), "an open file");
  state_->add({LatePiece::Kind::piece, std::move(piece)});
  LateWriter::instance().wake(false);
}

void LateFile::replace(std::string content) {
  expects(is_open(), "an open file");
  state_->add({LatePiece::Kind::whole, std::move(content)});
  LateWriter::instance().wake(false);
}

void LateFile::replace_first_line(std::string line) {
  expects(is_open(), "an open file");
  state_->add({LatePiece::Kind::first_line, std::move(line)});
  LateWriter::instance().wake(false);
}

bool LateFile::flush(double seconds) {
  expects(is_open(), "an open file");
  constexpr double while_hanging = 0.2;  // others have waited long enough
  LateWriter& writer = LateWriter::instance();
  if (writer.hangs()) seconds = std::min(seconds, while_hanging);
  std::unique_lock lock(state_->mutex);
  const std::int64_t wanted = state_->added;
  // A try in progress may have begun before the last piece was added: only one that fails after it counts.
  const std::int64_t tries = state_->tries + (state_->busy ? 1 : 0);
  const auto all = [&] { return state_->settled >= wanted && !state_->busy; };
  if (all()) return true;
  lock.unlock();
  writer.wake(true);
  lock.lock();
  const auto over = [&] { return all() || (state_->tries > tries && state_->error != 0); };
  if (!state_->changed.wait_for(lock, std::chrono::duration<double>(seconds), over)) writer.note_hang();
  return all();
}

bool LateFile::close() {
  if (!is_open()) return true;
  const bool whole = flush();
  std::int64_t lost = 0;
  int error = 0;
  {
    const std::lock_guard lock(state_->mutex);
    lost = static_cast<std::int64_t>(state_->pieces.size()) + state_->dropped;
    error = state_->error;
    state_->closed = true;
  }
  if (lost > 0) state_->warnings.given_up(state_->path, error != 0 ? disk_cause(error) : "the disk hangs", lost);
  LateWriter::instance().wake(false);
  state_.reset();
  return whole;
}

void LateFile::leave() {
  if (!is_open()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->left = true;
  }
  LateWriter::instance().wake(false);
  state_.reset();
}

void write_late(const std::filesystem::path& path, std::string content) {
  LateFile file = LateFile::whole(path);
  file.replace(std::move(content));
  file.flush();
  file.leave();
}

bool flush_late_files(double seconds) { return LateWriter::instance().flush(seconds); }

}  // namespace isobar::disk
