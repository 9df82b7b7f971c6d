// Staging: how the samples of a run are brought near the ranks that read them: not at all, as files on every node, or
// held in the memory of all ranks together. Named by a Spec in a recipe: staging = "files(to=/dev/shm/stage)".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "isobar/base/row.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/datasets/dataset.hpp"

namespace isobar::feeding {

/// Numbers that prove what was read and moved, by name: {"bytes_read", 1048576}.
using StagingCounters = std::vector<std::pair<std::string, std::int64_t>>;

/// A data set ready to be read, and the counters so far, summed over all ranks.
struct Staged {
  std::shared_ptr<const datasets::Dataset> dataset;
  /// All ranks must call.
  std::function<StagingCounters()> counters = [] { return StagingCounters{}; };
  bool own_samples = false;  ///< ranks see different samples, and different numbers of them
  bool all_readable = true;  ///< every rank can read every sample of its data set, at any time and in any order
};

/// What a run knows that staging needs.
struct StagingSetting {
  int readers = 1;          ///< threads that read
  bool keep_bad = false;    ///< the loader leaves out bad samples, instead of a failure here
  bool evaluation = false;  ///< every rank must be able to see every sample
  /// Takes the samples that are used out of the data set; empty: all are.
  std::function<std::shared_ptr<const datasets::Dataset>(std::shared_ptr<const datasets::Dataset>)> subset{};
  /// Where ranks share samples, those that read different ones: for this rank the numbers of all that read the same
  /// part of a sample as it does, itself included, in the order of their slices of a batch. Empty: all ranks read
  /// different samples.
  std::vector<int> peers{};
  /// All that this rank will read of any sample; empty: whole samples. What is held in memory need not be more.
  datasets::Region region{};

  std::shared_ptr<const datasets::Dataset> used(std::shared_ptr<const datasets::Dataset> all) const {
    return subset ? subset(std::move(all)) : all;
  }
};

class Staging {
 public:
  virtual ~Staging() = default;

  /// Stages the samples used of the data set that `spec` names and `dataset` implements; all ranks must call.
  virtual Staged stage(const Spec& spec, std::shared_ptr<const datasets::Dataset> dataset,
                       const StagingSetting& setting, comm::Comm& comm) const = 0;
};

Table<Row<Staging>> stagings();

}  // namespace isobar::feeding
