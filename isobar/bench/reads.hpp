// Reads: level 0 of the benchmarks, for data. Our reader and a peer read the same bytes from the page cache, in turns;
// speed is the ratio of their times, round by round. The files are first written to a scratch folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isobar/bench/record.hpp"

namespace isobar::bench {

/// Two ways to read the same data; each function reads everything once and returns the seconds.
struct ReadContest {
  std::string what, ours, peer;  ///< "HDF5, uncompressed"; "hdf5, 1 thread"; "read(2)"
  double asked = 0;              ///< the aim: at least this ratio of the peer's seconds to ours
  double bytes = 0;              ///< of the numbers delivered
  std::function<double()> run_ours, run_peer;
};

struct ReadOutcome {
  std::string what, ours, peer;
  double asked = 0, bytes = 0;
  Summary our_seconds, peer_seconds, ratio;
};

struct ReadOptions {
  std::filesystem::path scratch;  ///< our own folder, with room for about half a gigabyte
  std::string peers;              ///< folder of the peer programs; empty: no peer programs
  int rounds = 10;
  int threads = 2;  ///< of our readers, in contests with several threads
  int scale = 8;    ///< amount of data: 8 for a measurement, 1 for a trial
};

/// The contests; each is one function, which also writes its files.
std::vector<ReadContest> read_contests(const ReadOptions& options);

/// Runs every contest and reports progress to `note`.
std::vector<ReadOutcome> run_reads(const ReadOptions& options, const std::function<void(const std::string&)>& note);

/// What reading from files costs a training step of `model`, compared with the same samples in memory.
struct InputLoss {
  std::string model;
  Summary seconds_memory, seconds_files;
  Summary loss;           ///< (files - memory) / memory, round by round
  double wait_share = 0;  ///< share of the steps' time spent waiting for a batch
};
InputLoss measure_input_loss(const std::string& model, const ReadOptions& options);

/// The outcomes as text and as records.
std::string reads_table(const std::vector<ReadOutcome>& outcomes, const ReadOptions& options);
std::string input_loss_line(const InputLoss& loss);
std::vector<Record> reads_records(const std::vector<ReadOutcome>& outcomes, const InputLoss& loss, int rounds);

}  // namespace isobar::bench
