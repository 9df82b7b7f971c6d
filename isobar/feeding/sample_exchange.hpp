// SampleExchange: brings a rank, batch by batch, the samples of its slices that other ranks hold. Who needs what is a
// pure function of seed, epoch and batch, so holders send without a request. A thread runs ahead of the reading by a
// bounded number of batches; once a batch has been read, a later one takes its place.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/feeding/arrivals.hpp"

namespace isobar::feeding {

/// The samples as the ranks hold them, each a part.
struct HeldSamples {
  std::vector<std::int64_t> bounds;         ///< rank r holds samples [bounds[r], bounds[r + 1])
  std::map<std::int64_t, std::string> bad;  ///< samples that no rank could read, and why
  std::size_t sample_bytes = 0;             ///< as they are held and sent
  std::int64_t first = 0;                   ///< where this rank's part begins
  Block share;                              ///< this rank's part

  int holder(std::int64_t sample) const;
  /// A sample this rank holds.
  std::span<std::byte> at(std::int64_t sample) const;
};

/// Bytes of samples that were exchanged.
struct ExchangedBytes {
  std::atomic<std::int64_t> sent = 0, received = 0;
};

class SampleExchange final : public datasets::Fetching {
 public:
  /// Begins at once; all ranks of `comm` begin the same course with the same tag. What is referred to must outlive the
  /// exchange.
  SampleExchange(const HeldSamples& held, const datasets::Course& course, int ahead, int tag, comm::Comm& comm,
                 ExchangedBytes& exchanged);
  ~SampleExchange() override;

  /// Waits for a sample that another rank holds, passes its bytes to `use`, and frees them. Each sample of the course
  /// can be taken once per epoch, in roughly the order of the course.
  void take(std::int64_t epoch, std::int64_t sample, const std::function<void(std::span<const std::byte>)>& use) {
    arrivals_.take({epoch, sample}, use);
  }
  void end(std::int64_t used) override;

 private:
  void run();
  bool run_batch(std::int64_t serial);

  const HeldSamples& held_;
  const datasets::Course course_;
  const int tag_;
  comm::Comm& comm_;
  ExchangedBytes& exchanged_;
  Arrivals arrivals_;
  std::jthread thread_;  // joined first of all members
};

}  // namespace isobar::feeding
