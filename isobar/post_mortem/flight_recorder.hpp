// FlightRecorder: what this process did last and which sums over ranks are under way, in fixed-size memory that a
// signal handler may read while other threads write: no locks, no allocation. Texts that are too long are cut.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "isobar/base/clock.hpp"

namespace isobar::post_mortem {

/// A short text that one thread may replace while another reads it: the reader may then see a mixture, still valid
/// text.
class FlightText {
 public:
  static constexpr std::size_t longest = 119;
  using Characters = std::array<char, longest + 1>;

  void set(std::string_view text);
  /// Zero-terminated.
  Characters get() const;

 private:
  std::array<std::atomic<std::uint64_t>, (longest + 1) / sizeof(std::uint64_t)> words_{};
};

class FlightRecorder {
 public:
  static constexpr std::size_t notes = 64, sums = 128;
  using Sum = std::uint64_t;

  /// Notes what this process is about to do; replaces the oldest note.
  void note(std::string_view what);
  /// Says that a sum is under way, until end_sum(); it is not seen if `sums` others are under way already.
  Sum begin_sum(std::string_view what);
  /// Does nothing if the sum is no longer known.
  void end_sum(Sum sum);
  /// Forgets all sums under way: nothing waits for them any more.
  void forget_sums();

  /// Calls `told(what, seconds ago)` for every note, the oldest first, or for every sum under way. An age is never
  /// negative, even if another thread notes something meanwhile. Both may be called in a signal handler if `told` may.
  template <class Told>
  void each_note(Told told) const {
    const std::uint64_t end = next_.load(std::memory_order_acquire);
    for (std::uint64_t i = end > notes ? end - notes : 0; i < end; ++i) {
      const Entry& entry = notes_[i % notes];
      if (entry.number.load(std::memory_order_acquire) == i + 1) told(entry.text.get().data(), entry.age());
    }
  }
  template <class Told>
  void each_sum(Told told) const {
    for (const Entry& entry : sums_) {
      const std::uint64_t number = entry.number.load(std::memory_order_acquire);
      if (number != 0 && number != being_written) told(entry.text.get().data(), entry.age());
    }
  }

 private:
  static constexpr std::uint64_t being_written = ~std::uint64_t{0};
  struct Entry {
    std::atomic<std::uint64_t> number = 0;  // 0: empty
    std::atomic<double> time = 0;
    FlightText text{};

    // Stores `put` if the present number is older than `mine`; otherwise does nothing and returns false.
    bool put_if_newer(std::uint64_t mine, std::uint64_t put);
    // The clock is read after `time`: a writer may store a later time at any moment.
    double age() const {
      const double then = time;
      return now_seconds() - then;
    }
  };

  std::atomic<std::uint64_t> next_ = 0, next_sum_ = 0;
  std::array<Entry, notes> notes_{};
  std::array<Entry, sums> sums_{};
};

/// The recorder of this process.
FlightRecorder& flight_recorder();

}  // namespace isobar::post_mortem
