// Sums over all ranks, ours and the message library's own, alternating in one run. Ours run as in training: in the
// reducer's memory, where the gradients are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "isobar/bench/record.hpp"
#include "isobar/comm/reducer.hpp"

namespace isobar::bench {

struct SumContest {
  std::vector<std::size_t> bytes{1'000,     8'000,      64'000,     256'000,    1'000'000,
                                 8'000'000, 32'000'000, 64'000'000, 256'000'000};
  int rounds = 15;
  comm::ReducerOptions options{};
};

struct SumOutcome {
  std::size_t bytes = 0;
  Summary ours, library;  ///< seconds of one sum, of the slowest rank
  Summary ratio;          ///< the library's time over ours, round by round; zeros without a library
};

/// All ranks must call; all get the same outcome.
std::vector<SumOutcome> measure_sums(comm::Comm& comm, const SumContest& contest);

/// The outcomes as text, and as one record for each size. `library` names the peer.
std::string sums_table(const std::vector<SumOutcome>& outcomes, comm::Comm& comm, const std::string& ours,
                       const std::string& library);
std::vector<Record> sums_records(const std::vector<SumOutcome>& outcomes, int ranks, const std::string& ours,
                                 const std::string& library, int rounds);

}  // namespace isobar::bench
