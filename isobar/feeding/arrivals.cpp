#include "isobar/feeding/arrivals.hpp"

#include "isobar/base/error.hpp"

namespace isobar::feeding {

Arrivals::Arrivals(int batches, std::int64_t rows, std::size_t sample_bytes)
    : rows_(rows), sample_bytes_(sample_bytes), memory_(batches * rows * sample_bytes), not_taken_(batches) {}

bool Arrivals::wait_for_room(std::int64_t serial) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return over(serial) || not_taken_[serial % not_taken_.size()] == 0; });
  return !over(serial);
}

std::span<std::byte> Arrivals::memory_at(std::int64_t serial, std::int64_t row) const {
  const std::size_t number = serial % not_taken_.size() * rows_ + row;
  return {memory_.data() + number * sample_bytes_, sample_bytes_};
}

void Arrivals::add(std::int64_t serial, std::span<const Key> samples) {
  {
    const std::lock_guard lock(mutex_);
    not_taken_[serial % not_taken_.size()] = samples.size();
    for (std::int64_t row = 0; const Key& key : samples) places_.insert({key, {serial, row++}});
  }
  arrived_.notify_all();
}

void Arrivals::take(const Key& key, const std::function<void(std::span<const std::byte>)>& use) {
  std::unique_lock lock(mutex_);
  auto found = places_.end();
  arrived_.wait(lock, [&] { return (found = places_.find(key)) != places_.end() || wanted_ < all || error_; });
  if (found == places_.end()) {
    if (error_) std::rethrow_exception(error_);
    fail("reading has ended");
  }
  const auto [serial, row] = found->second;
  places_.erase(found);
  lock.unlock();
  use(memory_at(serial, row));
  lock.lock();
  if (--not_taken_[serial % not_taken_.size()] == 0) room_.notify_all();
}

void Arrivals::end(std::int64_t used) {
  {
    const std::lock_guard lock(mutex_);
    if (wanted_ == all) wanted_ = used;
  }
  arrived_.notify_all();
  room_.notify_all();
}

void Arrivals::break_off(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
  }
  arrived_.notify_all();
}

}  // namespace isobar::feeding
