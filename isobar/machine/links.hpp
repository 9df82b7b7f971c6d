// Measures what messages between neighbouring ranks cost, for `isobar doctor`.
#pragma once

#include <vector>

#include "isobar/comm/comm.hpp"

namespace isobar::machine {

/// Entry r is the link between rank r and r + 1; a group of one rank has none.
struct Links {
  std::vector<double> latency_us{};     ///< half the time an 8-byte message takes there and back
  std::vector<double> mb_per_second{};  ///< of messages of 4 MB
};

/// Sends messages between neighbours for some tens of milliseconds per link. All ranks must call; all get all results.
Links measure_links(comm::Comm& comm);

}  // namespace isobar::machine
