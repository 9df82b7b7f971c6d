#include "isobar/data/loader.hpp"

#include <algorithm>
#include <span>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"

namespace isobar::data {

Loader::Loader(const Dataset& dataset, const Sampler& sampler, const LoaderOptions& options)
    : dataset_(dataset),
      sampler_((sampler.check(), sampler)),
      options_(options),
      batches_(sampler.batches()),
      rows_(sampler.rows(std::max(1, options.size))),
      epoch_(options.epoch),
      step_(options.step) {
  if (options.threads < 1) fail_usage("loader: threads = {}; at least 1 reader is needed", options.threads);
  if (options.ahead < 1) fail_usage("loader: ahead = {}; at least 1 batch is read ahead", options.ahead);
  if (options.epoch < 0 || options.step < 0 || options.step > batches_)
    fail_usage("loader: cannot begin at epoch {}, batch {}: an epoch has batches 0 to {}", options.epoch, options.step,
               batches_ - 1);
  expects(options.rank >= 0 && options.rank < options.size, "a rank below the number of ranks");
  expects(sampler.count <= dataset.size(), "a sampler of no more samples than the dataset has");

  slots_.resize(static_cast<std::size_t>(options.ahead) + 1);
  for (Slot& slot : slots_) {
    for (const Field& field : dataset.fields()) {
      std::vector<std::int64_t> extents = field.shape.extents();
      extents.insert(extents.begin(), rows_);
      slot.batch.fields.emplace_back(Shape(std::move(extents)));
    }
    slot.batch.samples.reserve(static_cast<std::size_t>(rows_));
  }
  try {
    for (int i = 0; i < options.threads; ++i) readers_.emplace_back([this] { read_ahead(); });
  } catch (...) {  // no more threads to be had: those that began must not wait for ever
    stop_reading();
    throw;
  }
}

Loader::~Loader() { stop_reading(); }

void Loader::stop_reading() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_all();
}

const Batch* Loader::next() {
  std::unique_lock lock(mutex_);
  if (held_) {
    held_ = false;
    room_.notify_all();
  }
  if (step_ == batches_) {
    ++epoch_;
    step_ = 0;
    return nullptr;
  }
  Slot& slot = slot_of(delivered_);
  const auto complete = [&] { return slot.serial == delivered_ && slot.missing == 0; };
  if (!complete()) {
    const double begin = now_seconds();
    ready_.wait(lock, complete);
    wait_seconds_ += now_seconds() - begin;
  }
  if (slot.error) std::rethrow_exception(slot.error);
  ++delivered_;
  ++step_;
  held_ = true;
  return &slot.batch;
}

void Loader::read_ahead() {
  std::unique_lock lock(mutex_);
  for (;;) {
    // Batches [delivered - held, claimed] occupy slots; the one to claim must not be one the caller still uses.
    room_.wait(lock, [&] {
      const std::int64_t oldest = delivered_ - (held_ ? 1 : 0);
      return stop_ || claimed_ - oldest < static_cast<std::int64_t>(slots_.size());
    });
    if (stop_) return;
    Slot& slot = slot_of(claimed_);
    if (claimed_row_ == 0) prepare(slot, claimed_);
    const std::int64_t row = claimed_row_++;
    if (claimed_row_ == rows_) {
      ++claimed_;
      claimed_row_ = 0;
    }
    lock.unlock();
    std::exception_ptr error = fill_row(slot, row);
    lock.lock();
    // Of several failures the one in the lowest row is reported: the message does not depend on the threads.
    if (error && (!slot.error || row < slot.failed_row)) {
      slot.error = std::move(error);
      slot.failed_row = row;
    }
    if (--slot.missing == 0) ready_.notify_one();
  }
}

void Loader::prepare(Slot& slot, std::int64_t serial) const {
  const std::int64_t position = options_.epoch * batches_ + options_.step + serial;
  Batch& batch = slot.batch;
  batch.epoch = position / batches_;
  batch.step = position % batches_;
  const auto [first, last] = sampler_.slice(batch.step, options_.rank, options_.size);
  batch.samples.clear();
  for (std::int64_t p = first; p < last; ++p) batch.samples.push_back(sampler_.sample(batch.epoch, p));
  batch.count = static_cast<int>(last - first);
  slot.serial = serial;
  slot.missing = rows_;
}

std::exception_ptr Loader::fill_row(const Slot& slot, std::int64_t row) const {
  const Batch& batch = slot.batch;
  if (row >= batch.count) {
    for (const Tensor& field : batch.fields) std::ranges::fill(field.row(row), 0.0f);
    return nullptr;
  }
  const std::int64_t sample = batch.samples[static_cast<std::size_t>(row)];
  try {
    thread_local std::vector<std::span<float>> out;
    out.clear();
    for (const Tensor& field : batch.fields) out.push_back(field.row(row));
    dataset_.read_varied({sampler_.seed, batch.epoch, options_.training}, sample, out);
  } catch (const std::logic_error&) {
    return std::current_exception();
  } catch (const std::exception& problem) {
    return std::make_exception_ptr(Error(fmt::format("reading {}: {}", dataset_.where(sample), problem.what())));
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace isobar::data
