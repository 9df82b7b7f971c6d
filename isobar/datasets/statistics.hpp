// Statistics: mean, deviation and range of every channel of a data set, in one pass by many threads. The samples are
// split into parts that do not depend on the threads, each with its own sums in double precision, merged in order
// (Chan, Golub, LeVeque 1979): the result is identical to the last bit for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <vector>

#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {

/// The statistics of one channel.
struct ChannelStatistics {
  std::int64_t count = 0;    ///< finite numbers
  std::int64_t skipped = 0;  ///< NaNs and infinities, excluded from everything else
  double mean = 0;
  double squares = 0;  ///< the sum of (x - mean)^2
  double low = std::numeric_limits<double>::infinity(), high = -low;

  double deviation() const;    ///< of the whole population, not estimated from a sample
  double square_mean() const;  ///< of x^2
  /// Merges the statistics of another part of the numbers.
  void join(const ChannelStatistics& other);
};

/// How to go over a data set.
struct StatisticsOptions {
  std::size_t field = 0;     ///< whose last axis is the channels
  std::int64_t samples = 0;  ///< the first ones; 0: all
  int threads = 1;
  std::function<void(std::int64_t done, std::int64_t all)> progress{};  ///< called by one thread at a time
  const std::atomic<bool>* stop = nullptr;                              ///< if set, the work ends with an Error
};

/// Goes over the samples once.
std::vector<ChannelStatistics> statistics_of(const Dataset& dataset, const StatisticsOptions& options);

/// Adds numbers with the channels as last axis, [..., channels.size()].
void add_numbers(std::span<const float> numbers, std::vector<ChannelStatistics>& channels);

/// Writes the statistics file of DeepCAM: HDF5 with climate/count, mean, sqmean, minval and maxval.
void write_statistics(const std::filesystem::path& file, const std::vector<ChannelStatistics>& channels);
/// Reads such a file, or one with climate/stats: for every channel a row of mean, maximum, minimum and deviation.
std::vector<ChannelStatistics> read_statistics(const std::filesystem::path& file);

}  // namespace isobar::datasets
