// File staging: each file of a data set is read from the shared file system once, by one rank, sent from rank to rank,
// and written to a folder near every node (a disk, or memory such as /dev/shm). Copying takes two blocks of memory per
// rank. A finished folder is reused; an unfinished one is removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "isobar/base/spec.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/feeding/stage_plan.hpp"

namespace isobar::feeding {

/// Bytes moved by one rank, or by all of them.
struct StageCounters {
  std::int64_t read = 0;      ///< from the shared file system, counted where the system returns them
  std::int64_t sent = 0;      ///< to other ranks
  std::int64_t received = 0;  ///< from other ranks
  std::int64_t written = 0;   ///< to the node's folder
};

struct StageOptions {
  std::filesystem::path to;  ///< a folder on this rank's node
  Scheme scheme = Scheme::all;
  std::int64_t quota = 0;                          ///< files a rank draws, for Scheme::quota
  std::uint64_t seed = 1;                          ///< for drawing files
  std::int64_t max_bytes = std::int64_t{1} << 62;  ///< the most a node may hold; more is an Error before copying begins
  std::string node{};                              ///< which node this rank is on; empty: the host's name
  std::size_t block_bytes = std::size_t{4} << 20;  ///< read, sent and written at a time
};

struct StageResult {
  Spec staged;                    ///< the data set, reading from the node's folder
  std::filesystem::path folder;   ///< that folder
  bool reused = false;            ///< it was already there
  std::int64_t set_bytes = 0;     ///< of all files of the data set
  std::int64_t files = 0;         ///< that this rank sees, repetitions counted
  StageCounters counters, total;  ///< of this rank, of all ranks
};

/// Stages a data set; all ranks must call. A failure on one rank ends all of them with one message, and leaves no
/// unfinished folder. With shard and quota, a rank's data set holds only the samples of its own files.
StageResult stage_files(const Spec& dataset, const StageOptions& options, comm::Comm& comm);

}  // namespace isobar::feeding
