// The peaks a run is compared with: measured once on this kind of machine, by all ranks at the same time, each with the
// threads it trains with, and remembered in the user's cache folder. A busy machine may seem somewhat slower than it
// is: `isobar doctor` measures again.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "isobar/base/instructions.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/machine/peaks.hpp"

namespace isobar::machine {

/// The peaks of all ranks together, and the day they were measured, such as 2026-11-16 (UTC).
struct KnownPeaks {
  Peaks peaks{};
  std::string day{};
};

/// Where peaks are remembered and how they are measured; only rank 0 needs key and file.
struct PeakCache {
  std::string key{};  ///< what they belong to: processor and level of instructions, ranks and threads, program
  std::filesystem::path file{};         ///< empty: nothing is remembered
  std::function<Peaks(int)> measure{};  ///< of this rank, while this many processes of its node measure at once
};

/// The cache for this processor and these ranks, with `threads` each; a measurement takes about 0.2 s.
PeakCache peak_cache(const std::string& processor, const comm::Comm& world, int threads,
                     Instructions level = instructions());

/// Returns the remembered peaks, or else measures and remembers them; with `anew` it always measures. All ranks must
/// call.
KnownPeaks known_peaks(comm::Comm& world, const PeakCache& cache, bool anew = false);

/// The text of the file.
std::string peaks_text(const KnownPeaks& known, const std::string& key);

/// Reads such a text; empty unless it is complete, has this key and holds plausible rates.
std::optional<KnownPeaks> parse_peaks(const std::string& text, const std::string& key);

}  // namespace isobar::machine
