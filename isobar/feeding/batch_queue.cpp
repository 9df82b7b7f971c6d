#include "isobar/feeding/batch_queue.hpp"

#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"

namespace isobar::feeding {
namespace {

Shape shape_of_rows(std::int64_t rows, const datasets::Field& field) {
  std::vector<std::int64_t> extents = field.shape.extents();
  extents.insert(extents.begin(), rows);
  return Shape(std::move(extents));
}

std::vector<std::size_t> lengths_of(std::size_t slots, std::int64_t rows, const std::vector<datasets::Field>& fields) {
  std::vector<std::size_t> lengths;
  for (std::size_t s = 0; s < slots; ++s)
    for (const datasets::Field& field : fields) lengths.push_back(shape_of_rows(rows, field).count() * sizeof(float));
  return lengths;
}

}  // namespace

void leave_out_bad(QueuedBatch& slot) {
  Batch& batch = slot.batch;
  int kept = 0;
  for (int row = 0; row < batch.count; ++row) {
    if (!slot.bad[row].empty()) continue;
    if (kept != row) {
      for (const Tensor& field : batch.fields) std::ranges::copy(field.row(row), field.row(kept).begin());
      batch.samples[kept] = batch.samples[row];
    }
    ++kept;
  }
  batch.skipped = batch.count - kept;
  for (int row = kept; row < batch.count; ++row)
    for (const Tensor& field : batch.fields) std::ranges::fill(field.row(row), 0.0f);
  batch.count = kept;
  batch.samples.resize(kept);
}

BatchQueue::BatchQueue(const datasets::Course& course, const std::vector<datasets::Field>& fields, int ahead, int held,
                       bool keeps_bad)
    : course_(course),
      most_held_(held),
      keeps_bad_(keeps_bad),
      slots_(ahead + held),
      arena_(lengths_of(slots_.size(), course.rows(), fields)) {
  std::size_t piece = 0;
  for (QueuedBatch& slot : slots_) {
    for (const datasets::Field& field : fields)
      slot.batch.fields.emplace_back(shape_of_rows(course.rows(), field),
                                     reinterpret_cast<float*>(arena_.piece(piece++)));
    slot.batch.samples.reserve(course.rows());
    slot.bad.resize(course.rows());
  }
}

// Batches from taken_ - held_ on occupy slots; the slot to fill must not be in use by the caller.
bool BatchQueue::room() const {
  const std::int64_t serial = claimed_ / course_.rows();
  return serial < course_.length() && serial - (taken_ - held_) < std::ssize(slots_);
}

std::optional<BatchQueue::Row> BatchQueue::claim(const std::function<void()>& before_waiting) {
  std::unique_lock lock(mutex_);
  if (!stop_ && !room()) before_waiting();
  room_.wait(lock, [&] { return stop_ || room(); });
  if (stop_) return std::nullopt;
  const std::int64_t serial = claimed_ / course_.rows(), row = claimed_ % course_.rows();
  QueuedBatch& slot = slot_of(serial);
  if (row == 0) prepare(slot, serial);
  ++claimed_;
  return Row{slot, serial, row};
}

void BatchQueue::prepare(QueuedBatch& slot, std::int64_t serial) const {
  Batch& batch = slot.batch;
  const auto [epoch, step] = course_.at(serial);
  batch.epoch = epoch;
  batch.step = step;
  const auto [first, last] = course_.sampler.slice(batch.step, course_.rank, course_.size);
  batch.samples.clear();
  for (std::int64_t p = first; p < last; ++p) batch.samples.push_back(course_.sampler.sample(batch.epoch, p));
  batch.count = last - first;
  batch.skipped = 0;
  for (std::string& reason : slot.bad) reason.clear();
  slot.missing = course_.rows();
}

void BatchQueue::done(const Row& row, std::exception_ptr error) {
  QueuedBatch& slot = row.slot;
  if (error) {
    // Of several failures, the one in the lowest row is reported, so that the message does not depend on the threads.
    const std::lock_guard lock(mutex_);
    if (!slot.error || row.row < slot.failed_row) {
      slot.error = std::move(error);
      slot.failed_row = row.row;
    }
  }
  if (--slot.missing > 0) return;
  if (!keeps_bad_) leave_out_bad(slot);  // no reader uses this slot any more, and the caller not yet
  const std::lock_guard lock(mutex_);
  slot.ready = true;
  ready_.notify_one();
}

QueuedBatch& BatchQueue::take(bool keep) {
  std::unique_lock lock(mutex_);
  if (!keep && held_ > 0) {
    held_ = 0;
    room_.notify_all();
  }
  expects(held_ < most_held_, "no more batches kept than were asked for");
  expects(taken_ < course_.length(), "no batch asked for after the last epoch");
  QueuedBatch& slot = slot_of(taken_);
  if (!slot.ready) {
    const double begin = now_seconds();
    ready_.wait(lock, [&] { return slot.ready; });
    wait_seconds_ += now_seconds() - begin;
  }
  if (slot.error) std::rethrow_exception(slot.error);
  slot.ready = false;
  ++taken_;
  ++held_;
  return slot;
}

void BatchQueue::give_back() {
  const std::lock_guard lock(mutex_);
  held_ = 0;
  room_.notify_all();
}

void BatchQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_all();
}

}  // namespace isobar::feeding
