// CheckpointWriter: writes snapshots while training continues, in a thread with a slightly lower priority than those
// that compute. There is one copy of the state: while it is being written, no other write can begin. outcomes() reports
// the results; a full or hanging disk never blocks the caller, except in wait().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isobar/checkpoint/checkpoint_shelf.hpp"

namespace isobar::checkpoint {

/// The result of writing one snapshot.
struct SaveOutcome {
  std::filesystem::path file;
  std::int64_t step = 0;
  double bytes = 0, write_seconds = 0;
  std::string problem{};  ///< why it could not be written; empty: it was written
  std::string cause{};    ///< the same without the name of the file
};

/// Under which names to save a snapshot.
struct SaveAs {
  bool step = true;   ///< as step_N.h5
  bool best = false;  ///< as best.h5
};

class CheckpointWriter {
 public:
  using Write = std::function<std::uintmax_t(const std::filesystem::path& file, const Snapshot& snapshot)>;

  /// With `background` false, start() returns when the file is written.
  CheckpointWriter(const CheckpointShelf& shelf, bool background, Write write = write_checkpoint);
  /// Waits some seconds for a snapshot that is being written; if that takes longer, the thread is abandoned.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;

  bool busy() const;
  /// Memory for the next snapshot, to be filled while not busy.
  Snapshot& draft();
  /// Begins to write the draft; must not be called while busy.
  void start(SaveAs as);
  /// Waits until nothing is being written.
  void wait();
  /// The results of writes that have ended since the last call, in order.
  std::vector<SaveOutcome> outcomes();
  /// Makes the destructor not wait for a write in progress.
  void release() { released_ = true; }

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this object
  bool background_, released_ = false;
};

}  // namespace isobar::checkpoint
