#include "isobar/feeding/sample_exchange.hpp"

#include <algorithm>

namespace isobar::feeding {
namespace {

constexpr double poll_seconds = 0.02;  // how soon a stop is noticed while waiting for other ranks

}  // namespace

int HeldSamples::holder(std::int64_t sample) const {
  return std::ranges::upper_bound(bounds, sample) - bounds.begin() - 1;
}

std::span<std::byte> HeldSamples::at(std::int64_t sample) const {
  return {share.data() + (sample - first) * sample_bytes, sample_bytes};
}

SampleExchange::SampleExchange(const HeldSamples& held, const datasets::Course& course, int ahead, int tag,
                               comm::Comm& comm, ExchangedBytes& exchanged)
    : held_(held),
      course_(course),
      tag_(tag),
      comm_(comm),
      exchanged_(exchanged),
      arrivals_(ahead + 1, course.rows(), held.sample_bytes),
      thread_([this] { run(); }) {}

SampleExchange::~SampleExchange() { end(0); }

void SampleExchange::end(std::int64_t used) {
  arrivals_.end(used);
  if (thread_.joinable()) thread_.join();
}

void SampleExchange::run() {
  try {
    comm::guarded(comm_, [&] {
      try {
        const std::int64_t batches = course_.length();
        for (std::int64_t serial = 0; serial < batches && run_batch(serial);) ++serial;
      } catch (const comm::PeerLeft&) {  // the rank stopped earlier; an error only if this one reads that far
        arrivals_.break_off(std::current_exception());
      }
    });
  } catch (...) {
    arrivals_.break_off(std::current_exception());
  }
}

// False if it was stopped.
bool SampleExchange::run_batch(std::int64_t serial) {
  if (!arrivals_.wait_for_room(serial)) return false;
  const auto [epoch, batch] = course_.at(serial);
  const auto samples_of = [&](int rank) { return course_.sampler.samples(epoch, batch, rank, course_.size); };
  std::vector<comm::Ticket> tickets;
  std::vector<Arrivals::Key> coming;
  for (const std::int64_t sample : samples_of(course_.rank)) {
    const int holder = held_.holder(sample);
    if (holder == course_.rank || held_.bad.contains(sample)) continue;
    tickets.push_back(comm_.start_receive(holder, tag_, arrivals_.memory_at(serial, coming.size())));
    coming.push_back({epoch, sample});
  }
  for (int step = 1; step < course_.size; ++step) {  // not all to the same rank first
    const int to = (course_.rank + step) % course_.size;
    for (const std::int64_t sample : samples_of(to)) {
      if (held_.holder(sample) != course_.rank || held_.bad.contains(sample)) continue;
      tickets.push_back(comm_.start_send(to, tag_, held_.at(sample)));
      exchanged_.sent += held_.sample_bytes;
    }
  }
  for (comm::Ticket& ticket : tickets)
    while (!ticket.wait_for(poll_seconds))
      if (arrivals_.over(serial)) return false;
  exchanged_.received += coming.size() * held_.sample_bytes;
  arrivals_.add(serial, coming);
  return true;
}

}  // namespace isobar::feeding
