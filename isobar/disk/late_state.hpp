// LateState: what a late file and the thread that writes it share. LateWriter is that thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "isobar/disk/late_file.hpp"

namespace isobar::disk {

struct LatePiece {
  enum class Kind { piece, whole, first_line } kind = Kind::piece;
  std::string text;
  bool vital = false;  // never dropped
};

struct LateState {
  LateState(std::filesystem::path file, std::unique_ptr<LateTarget> written, LateOptions chosen);

  /// Adds a piece, and drops old ones beyond the bound.
  void add(LatePiece piece);
  /// Writes all pieces; returns 0 or an error number.
  int write_out();

  const std::filesystem::path path;
  const LateOptions options;
  DiskWarnings& warnings;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<LatePiece> pieces;
  std::size_t in_flight = 0;                         // pieces at the front that are being written
  std::size_t pending_bytes = 0;                     // of all pieces
  std::int64_t length = 0;                           // once everything is written
  std::int64_t added = 0, settled = 0, dropped = 0;  // pieces; settled ones are written or dropped
  std::int64_t tries = 0;                            // tries that have ended
  int error = 0;                                     // of the last try
  bool busy = false;                                 // a try is in progress
  bool closed = false;
  bool left = false;  // nothing is added any more: closed once everything is written

  // Used by the writing thread, or, before that thread knows the file, by the thread that opens it.
  std::unique_ptr<LateTarget> target;
  bool open = false;
  std::int64_t written = 0;  // bytes in the file

 private:
  int write_pieces(std::size_t count);
  int reopen();
  void tell(int problem);
};

/// The one thread that writes late files. It is never joined: a disk that hangs must not keep the process from ending.
class LateWriter {
 public:
  static LateWriter& instance();

  void add(const std::shared_ptr<LateState>& state);
  /// Announces something to write, immediately if it is urgent.
  void wake(bool urgent);
  /// Whether the thread has been blocked in the disk for longer than a caller was ready to wait.
  bool hangs() const;
  void note_hang();
  /// Waits until everything present now has been tried; false if that takes longer than `seconds`.
  bool flush(double seconds);

 private:
  LateWriter();
  void serve();
  bool write_round(std::vector<std::shared_ptr<LateState>> states);

  mutable std::mutex mutex_;
  std::condition_variable wake_, round_over_;
  std::vector<std::shared_ptr<LateState>> states_;
  std::int64_t begun_ = 0, over_ = 0;  // rounds
  bool work_ = false, urgent_ = false, hangs_ = false;
};

}  // namespace isobar::disk
