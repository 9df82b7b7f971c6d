// Divides the cores of a node among its ranks.
#pragma once

#include <string>
#include <vector>

#include "isobar/comm/comm.hpp"

namespace isobar::run {

/// Gives this rank its part of the node's cores, unless the user or the launcher has already decided; `threads` is the
/// value of --threads, 0 if it was not given. All ranks must call.
class CoreShare {
 public:
  CoreShare(comm::Comm& comm, int threads);

  /// Binds threads that are started from now on as communication threads.
  void bind_communication() const;
  /// Binds this thread, those of OpenMP, and threads that are started from now on as compute threads.
  void bind_compute() const;
  /// "1 thread each, bound to cores 0; communication shares them"; empty for one rank.
  const std::string& text() const { return text_; }

 private:
  std::vector<int> compute_, communication_;
  std::string text_;
};

}  // namespace isobar::run
