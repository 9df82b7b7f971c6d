// Writing a family of universes in the MLPerf CosmoFlow layout: directory/train and directory/test, one sample per
// file, x int16 (n, n, n, redshifts) and y float (4). Training takes the universes from 0, testing those from
// first_test_universe: no universe has cubes in both, and a set can be extended later without moving a sample.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "isobar/worlds/universe.hpp"
#include "isobar/writing/make_files.hpp"

namespace isobar::writing {

inline constexpr std::int64_t first_test_universe = 1'000'000'000;

/// What to write.
struct UniverseFiles {
  worlds::UniverseOptions family;
  int size = 32;                        ///< edge of a sample in cells
  int merge = 1;                        ///< mesh cells along an edge that make one cell; size x merge divides the mesh
  std::int64_t train = 512, test = 64;  ///< samples
  int threads = 0;                      ///< 0: one per processor; affects only the time
};

/// Writes the files that do not exist yet, each completely or not at all. Complete files of the same settings are kept;
/// other settings are an Error that says what differs, before anything is written. `progress` (samples done, all
/// samples) is called by one thread at a time; setting `stop` ends the work after the files being written.
FilesMade write_universe(const std::filesystem::path& directory, const UniverseFiles& what,
                         const FileProgress& progress = {}, const std::atomic<bool>* stop = nullptr);

}  // namespace isobar::writing
