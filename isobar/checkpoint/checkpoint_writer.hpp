// CheckpointWriter: writes snapshots while training goes on, in a thread a little nicer than those that compute. There
// is one copy of the state: while it is being written no other can be begun. What came of each is told to whoever asks;
// a disk that is full or hangs never holds up the caller, unless it asks to wait.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isobar/checkpoint/checkpoint_shelf.hpp"

namespace isobar::checkpoint {

/// What came of one.
struct SaveOutcome {
  std::filesystem::path file;
  std::int64_t step = 0;
  double bytes = 0, write_seconds = 0;
  std::string problem{};  ///< why it could not be written; empty: it is there
  std::string cause{};    ///< the same without the name of the file
};

/// Where a snapshot is to be kept.
struct SaveAs {
  bool step = true;   ///< as step_N.h5
  bool best = false;  ///< as best.h5
};

class CheckpointWriter {
 public:
  using Write = std::function<std::uintmax_t(const std::filesystem::path& file, const Snapshot& snapshot)>;

  /// `background` false: start() returns when the file is there.
  CheckpointWriter(const CheckpointShelf& shelf, bool background, Write write = write_checkpoint);
  /// Waits some seconds for one that is being written; one that takes longer is left to itself.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;

  bool busy() const;
  /// Memory for the next, to be filled while not busy.
  Snapshot& draft();
  /// Begins to write the draft; not while busy.
  void start(SaveAs as);
  /// Until nothing is being written.
  void wait();
  /// Of those that have ended since the last call, in order.
  std::vector<SaveOutcome> outcomes();
  /// At its end this does not wait any more for what is being written.
  void release() { released_ = true; }

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this
  bool background_, released_ = false;
};

}  // namespace isobar::checkpoint
