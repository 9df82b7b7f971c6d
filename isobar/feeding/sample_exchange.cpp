#include "isobar/feeding/sample_exchange.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::feeding {
namespace {

constexpr double poll_seconds = 0.02;  // how soon a stop is noticed while waiting for other ranks

}  // namespace

int SampleHolders::holder(std::int64_t sample) const {
  return static_cast<int>(std::ranges::upper_bound(bounds, sample) - bounds.begin()) - 1;
}

std::size_t SampleExchange::memory_bytes(const datasets::Course& course, int ahead, std::size_t sample_bytes) {
  return static_cast<std::size_t>(ahead + 1) * static_cast<std::size_t>(course.sampler.rows(course.size)) *
         sample_bytes;
}

SampleExchange::SampleExchange(SampleHolders holders, const datasets::Course& course, int ahead, int tag,
                               comm::Comm& comm)
    : holders_(std::move(holders)),
      course_(course),
      tag_(tag),
      comm_(comm),
      rows_(course.sampler.rows(course.size)),
      memory_(memory_bytes(course, ahead, holders_.sample_bytes)),
      not_taken_(static_cast<std::size_t>(ahead) + 1) {
  thread_ = std::jthread([this] { run(); });
}

SampleExchange::~SampleExchange() { end(0); }

void SampleExchange::end(std::int64_t used) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) used_ = used;
    ended_ = true;
  }
  arrived_.notify_all();
  room_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SampleExchange::run() {
  try {
    comm::guarded(comm_, [&] {
      try {
        run_batches();
      } catch (const comm::PeerLeft&) {  // the rank stopped earlier; an error only if this one reads that far
        keep_error();
      }
    });
  } catch (...) {
    keep_error();
  }
}

void SampleExchange::run_batches() {
  const std::int64_t batches = course_.sampler.batches();
  for (std::int64_t serial = 0;; ++serial) {
    const std::int64_t position = course_.epoch * batches + course_.step + serial;
    if (course_.last_epoch >= 0 && position >= course_.last_epoch * batches) return;
    if (!run_batch(serial, position / batches, position % batches)) return;
  }
}

void SampleExchange::keep_error() {
  {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
  }
  arrived_.notify_all();
}

// False if it was stopped.
bool SampleExchange::run_batch(std::int64_t serial, std::int64_t epoch, std::int64_t batch) {
  const datasets::Sampler& sampler = course_.sampler;
  const std::size_t slot = static_cast<std::size_t>(serial) % not_taken_.size();
  if (!wait_for_room(slot, serial)) return false;

  std::vector<comm::Ticket> tickets;
  std::vector<std::pair<Key, Place>> coming;
  const auto foreign = [&](std::int64_t sample, int rank) {
    return holders_.holder(sample) != rank && !holders_.bad(sample);
  };
  for (const std::int64_t sample : sampler.samples(epoch, batch, course_.rank, course_.size)) {
    if (!foreign(sample, course_.rank)) continue;
    const Place place{slot, static_cast<std::int64_t>(coming.size())};
    coming.push_back({{epoch, sample}, place});
    tickets.push_back(comm_.start_receive(holders_.holder(sample), tag_, memory_at(place)));
  }
  for (int step = 1; step < course_.size; ++step) {  // not all to the same rank first
    const int to = (course_.rank + step) % course_.size;
    for (const std::int64_t sample : sampler.samples(epoch, batch, to, course_.size)) {
      if (holders_.holder(sample) != course_.rank || !foreign(sample, to)) continue;
      tickets.push_back(comm_.start_send(to, tag_, holders_.held(sample)));
      sent_ += static_cast<std::int64_t>(holders_.sample_bytes);
    }
  }
  if (!finish(tickets, serial)) return false;
  received_ += static_cast<std::int64_t>(coming.size() * holders_.sample_bytes);
  {
    const std::lock_guard lock(mutex_);
    not_taken_[slot] = static_cast<std::int64_t>(coming.size());
    for (const auto& [key, place] : coming) places_.insert({key, place});
  }
  arrived_.notify_all();
  return true;
}

bool SampleExchange::wait_for_room(std::size_t slot, std::int64_t serial) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return over(serial) || not_taken_[slot] == 0; });
  return !over(serial);
}

bool SampleExchange::finish(std::vector<comm::Ticket>& tickets, std::int64_t serial) const {
  for (comm::Ticket& ticket : tickets)
    while (!ticket.wait_for(poll_seconds))
      if (over(serial)) return false;
  return true;
}

std::span<std::byte> SampleExchange::memory_at(const Place& place) const {
  const std::size_t number = place.slot * static_cast<std::size_t>(rows_) + static_cast<std::size_t>(place.row);
  return {memory_.data() + number * holders_.sample_bytes, holders_.sample_bytes};
}

void SampleExchange::take(std::int64_t epoch, std::int64_t sample,
                          const std::function<void(std::span<const std::byte>)>& use) {
  std::unique_lock lock(mutex_);
  auto found = places_.end();
  arrived_.wait(lock, [&] { return (found = places_.find({epoch, sample})) != places_.end() || ended_ || error_; });
  if (found == places_.end()) {
    if (error_) std::rethrow_exception(error_);
    fail("reading has ended");
  }
  const Place place = found->second;
  places_.erase(found);
  lock.unlock();
  use(memory_at(place));
  lock.lock();
  if (--not_taken_[place.slot] == 0) room_.notify_all();
}

}  // namespace isobar::feeding
