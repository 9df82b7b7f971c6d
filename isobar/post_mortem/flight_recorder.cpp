#include "isobar/post_mortem/flight_recorder.hpp"

#include <algorithm>

namespace isobar::post_mortem {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<double>::is_always_lock_free,
              "a signal handler must not meet a lock");

void FlightText::set(std::string_view text) {
  Characters characters{};
  std::copy_n(text.begin(), std::min(text.size(), longest), characters.begin());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, characters.data() + i * sizeof word, sizeof word);
    words_[i].store(word, std::memory_order_relaxed);
  }
}

FlightText::Characters FlightText::get() const {
  Characters characters{};
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t word = words_[i].load(std::memory_order_relaxed);
    std::memcpy(characters.data() + i * sizeof word, &word, sizeof word);
  }
  characters.back() = 0;
  return characters;
}

void FlightRecorder::note(std::string_view what) {
  const std::uint64_t number = next_.fetch_add(1, std::memory_order_acq_rel) + 1;
  Entry& entry = notes_[(number - 1) % notes];
  // A thread that was delayed here for a whole round of notes must not replace the newer note.
  if (!entry.put_if_newer(number, 0)) return;
  entry.time = now_seconds();
  entry.text.set(what);
  entry.put_if_newer(number, number);
}

bool FlightRecorder::Entry::put_if_newer(std::uint64_t mine, std::uint64_t put) {
  std::uint64_t there = number.load(std::memory_order_acquire);
  while (there < mine && !number.compare_exchange_weak(there, put, std::memory_order_acq_rel)) continue;
  return there < mine;
}

FlightRecorder::Sum FlightRecorder::begin_sum(std::string_view what) {
  const Sum sum = next_sum_.fetch_add(1, std::memory_order_relaxed) + 1;
  // Sums end roughly in the order they began, so that the place of the oldest is usually free.
  for (std::uint64_t i = 0; i < sums; ++i) {
    Entry& entry = sums_[(sum + i) % sums];
    std::uint64_t none = 0;
    if (entry.number.load(std::memory_order_relaxed) != 0 || !entry.number.compare_exchange_strong(none, being_written))
      continue;
    entry.time = now_seconds();
    entry.text.set(what);
    entry.number.store(sum, std::memory_order_release);  // only now may readers see it: the old text is gone
    break;
  }
  return sum;
}

void FlightRecorder::end_sum(Sum sum) {
  for (std::uint64_t i = 0; i < sums; ++i) {
    std::uint64_t expected = sum;
    Entry& entry = sums_[(sum + i) % sums];
    if (entry.number.load(std::memory_order_relaxed) != sum) continue;
    entry.number.compare_exchange_strong(expected, 0);
    return;
  }
}

void FlightRecorder::forget_sums() {
  for (Entry& entry : sums_) entry.number.store(0, std::memory_order_release);
}

FlightRecorder& flight_recorder() {
  static constinit FlightRecorder recorder;
  return recorder;
}

}  // namespace isobar::post_mortem
