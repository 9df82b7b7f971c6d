// Reads: level 0 of the benchmarks, for data. Ours and a peer read the same bytes out of the page cache, alternating in
// one go; speed is the ratio of their times, round by round. What is read is made first, in a scratch folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "isobar/bench/record.hpp"

namespace isobar::bench {

/// Two ways to read the same; each function reads everything once and returns its seconds.
struct ReadContest {
  std::string what, ours, peer;  ///< "HDF5, uncompressed"; "hdf5, 1 thread"; "read(2)"
  double asked = 0;              ///< the aim: the peer's seconds over ours, at least
  double bytes = 0;              ///< of numbers delivered
  std::function<double()> run_ours, run_peer;
};

struct ReadOutcome {
  std::string what, ours, peer;
  double asked = 0, bytes = 0;
  Summary our_seconds, peer_seconds, ratio;
};

struct ReadOptions {
  std::filesystem::path scratch;  ///< a folder of our own for about half a gigabyte
  std::string peers;              ///< folder of the peer programs; empty: none of those
  int rounds = 10;
  int threads = 2;  ///< of our readers, where the contest is about many
  int scale = 8;    ///< how much is read: 8 for a measurement, 1 for a trial
};

/// The contests, one function each, which make their files.
std::vector<ReadContest> read_contests(const ReadOptions& options);

/// Runs every contest; `note` is told what is going on.
std::vector<ReadOutcome> run_reads(const ReadOptions& options, const std::function<void(const std::string&)>& note);

/// What reading from files costs a training step of `model`, against the same samples lying in memory.
struct InputLoss {
  std::string model;
  Summary seconds_memory, seconds_files;
  Summary loss;           ///< (files - memory) / memory, round by round
  double wait_share = 0;  ///< of the steps' time: waiting for a batch that was not ready
};
InputLoss measure_input_loss(const std::string& model, const ReadOptions& options);

/// Tables for people, records for machines.
std::string reads_table(const std::vector<ReadOutcome>& outcomes, const ReadOptions& options);
std::string input_loss_line(const InputLoss& loss);
std::vector<Record> reads_records(const std::vector<ReadOutcome>& outcomes, const InputLoss& loss, int rounds);

}  // namespace isobar::bench
