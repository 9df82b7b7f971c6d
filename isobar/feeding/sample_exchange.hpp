// SampleExchange: brings a rank, batch by batch, the samples of its slices that other ranks hold. Who needs what is a
// pure function of seed, epoch and batch, so holders send without a request. A thread runs ahead of the reading by a
// bounded number of batches; once a batch has been read, a later one takes its place.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/datasets/dataset.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::feeding {

/// What an exchange needs to know about the samples.
struct SampleHolders {
  std::vector<std::int64_t> bounds;                              ///< rank r holds samples [bounds[r], bounds[r + 1])
  std::size_t sample_bytes = 0;                                  ///< as they are held and sent
  std::function<std::span<const std::byte>(std::int64_t)> held;  ///< a sample this rank holds
  std::function<bool(std::int64_t)> bad;                         ///< samples that no rank has

  int holder(std::int64_t sample) const;
};

class SampleExchange final : public datasets::Fetching {
 public:
  /// Begins at once; all ranks of `comm` begin the same course with the same tag. `comm` must outlive the exchange.
  SampleExchange(SampleHolders holders, const datasets::Course& course, int ahead, int tag, comm::Comm& comm);
  ~SampleExchange() override;

  /// Waits for a sample that another rank holds, passes its bytes to `use`, and frees them. Each sample of the course
  /// can be taken once per epoch, in roughly the order of the course.
  void take(std::int64_t epoch, std::int64_t sample, const std::function<void(std::span<const std::byte>)>& use);
  void end(std::int64_t used) override;

  /// The memory for samples that have been fetched but not read.
  static std::size_t memory_bytes(const datasets::Course& course, int ahead, std::size_t sample_bytes);
  std::int64_t bytes_sent() const { return sent_; }
  std::int64_t bytes_received() const { return received_; }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // epoch, sample
  struct Place {
    std::size_t slot;
    std::int64_t row;
  };

  void run();
  void run_batches();
  void keep_error();
  bool run_batch(std::int64_t serial, std::int64_t epoch, std::int64_t batch);
  bool wait_for_room(std::size_t slot, std::int64_t serial);
  bool finish(std::vector<comm::Ticket>& tickets, std::int64_t serial) const;
  bool over(std::int64_t serial) const { return ended_ && serial >= used_; }
  std::span<std::byte> memory_at(const Place& place) const;

  const SampleHolders holders_;
  const datasets::Course course_;
  const int tag_;
  comm::Comm& comm_;
  const std::int64_t rows_;
  Block memory_;
  std::atomic<std::int64_t> sent_ = 0, received_ = 0;

  std::mutex mutex_;  // guards what follows; the bytes of a place belong to the thread that fills or takes it
  std::condition_variable arrived_, room_;
  std::map<Key, Place> places_;          // arrived but not yet taken
  std::vector<std::int64_t> not_taken_;  // per slot
  std::atomic<bool> ended_ = false;
  std::atomic<std::int64_t> used_ = 0;  // batches that are still exchanged after the end
  std::exception_ptr error_;
  std::jthread thread_;  // joined first of all members
};

}  // namespace isobar::feeding
