// SampleStore: a data set held in the memory of all ranks together. Each rank reads its share once, whole files if
// there are several; then every epoch's global shuffle is served from memory, and samples of other ranks arrive as
// messages. Memory per rank: its share, and (ahead + 1) slices of a batch in transit.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/feeding/hold.hpp"
#include "isobar/feeding/sample_exchange.hpp"

namespace isobar::feeding {

struct StoreOptions {
  Hold hold = Hold::float32;                       ///< of x; other fields stay float32
  std::int64_t max_bytes = std::int64_t{4} << 30;  ///< the most a rank may hold; more is an Error before reading begins
  int ahead = 2;                                   ///< batches fetched before they are read
  int threads = 1;                                 ///< threads that read the share
  bool keep_bad = false;                           ///< a bad sample fails when it is read, instead of all ranks at once
  datasets::Region region{};                       ///< what is held of every sample; empty: all
};

struct StoreCounters {
  std::int64_t samples_read = 0;  ///< from the data set, each once
  std::int64_t bytes_held = 0;    ///< of the share
  std::int64_t bytes_sent = 0, bytes_received = 0;
};

class SampleStore final : public datasets::Dataset {
 public:
  /// Reads this rank's share; all ranks must call. A failure on one rank ends all of them with one message.
  SampleStore(std::shared_ptr<const datasets::Dataset> source, const StoreOptions& options, comm::Comm& comm);

  std::int64_t size() const override { return source_->size(); }
  std::vector<datasets::Field> fields() const override { return fields_; }
  /// A sample of this rank's share.
  void read(std::int64_t index, std::span<const std::span<float>> out) const override { read_varied({}, index, out); }
  /// A sample of the share, or of the course that was foreseen; an Error if only a region is held.
  void read_varied(const datasets::Reading& reading, std::int64_t index,
                   std::span<const std::span<float>> out) const override;
  /// A part of what is held.
  void read_region(const datasets::Reading& reading, std::int64_t index, std::span<const Box> region,
                   std::span<const std::span<float>> out) const override;
  std::vector<std::string> channels() const override { return source_->channels(); }
  std::vector<std::string> classes() const override { return source_->classes(); }
  std::string where(std::int64_t index) const override { return source_->where(index); }
  std::vector<datasets::FileSpan> spans() const override { return source_->spans(); }
  /// Begins to fetch samples; all ranks must announce the same courses in the same order, one at a time.
  std::shared_ptr<datasets::Fetching> foresee(const datasets::Course& course) const override;

  /// The samples [first, last) this rank holds.
  std::int64_t first() const { return held_.first; }
  std::int64_t last() const { return held_.bounds[comm_->rank() + 1]; }
  StoreCounters counters() const;

 private:
  void check_quota() const;
  void read_share();
  void read_one(std::int64_t index, std::vector<float>& scratch);
  void share_bad_samples();
  void unpack(std::span<const std::byte> sample, std::span<const Box> region,
              std::span<const std::span<float>> out) const;

  std::shared_ptr<const datasets::Dataset> source_;
  StoreOptions options_;
  std::unique_ptr<comm::Comm> comm_;  // its own group, so that its messages are not mixed with others
  std::vector<datasets::Field> fields_;
  datasets::Region whole_;            // of a sample
  std::vector<std::size_t> offsets_;  // of the fields in a held sample
  HeldSamples held_;
  std::int64_t samples_read_ = 0;
  mutable ExchangedBytes exchanged_;

  mutable std::mutex mutex_;                        // guards what follows
  mutable std::weak_ptr<SampleExchange> exchange_;  // of the loader that reads
  mutable int courses_ = 0;
};

/// Which samples each of `ranks` ranks holds, as bounds: whole files if there are at least as many files as ranks,
/// otherwise equal parts.
std::vector<std::int64_t> share_bounds(const datasets::Dataset& dataset, int ranks);

}  // namespace isobar::feeding
