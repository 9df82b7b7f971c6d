// What ranks of a node share: its cores.
#pragma once

#include <string>
#include <vector>

#include "isobar/comm/comm.hpp"

namespace isobar::run {

/// Gives this rank its part of the node's cores, unless the user or the launcher has decided that; `threads` is what
/// --threads asked for, 0: nothing. All ranks must call.
class CoreShare {
 public:
  CoreShare(comm::Comm& comm, int threads);

  /// Threads that are started from now on are those that communicate.
  void bind_communication() const;
  /// This thread and those of OpenMP compute; so do those that are started from now on.
  void bind_compute() const;
  /// "1 thread each, bound to cores 0; communication shares them"; empty for one rank.
  const std::string& text() const { return text_; }

 private:
  std::vector<int> compute_, communication_;
  std::string text_;
};

}  // namespace isobar::run
