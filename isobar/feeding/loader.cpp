#include "isobar/feeding/loader.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <span>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/comm/comm.hpp"

namespace isobar::feeding {

Loader::Loader(const datasets::Dataset& dataset, const datasets::Sampler& sampler, const LoaderOptions& options)
    : dataset_(dataset),
      sampler_((sampler.check(), sampler)),
      options_(options),
      batches_(sampler.batches()),
      rows_(sampler.rows(std::max(1, options.size))),
      trace_name_(options.trace ? options.trace->main().intern("reading a batch") : 0),
      limit_(options.last_epoch < 0 ? std::numeric_limits<std::int64_t>::max()
                                    : (options.last_epoch - options.epoch) * batches_ - options.step),
      epoch_(options.epoch),
      step_(options.step) {
  if (options.threads < 1) fail_usage("loader: threads = {}; at least 1 reader is needed", options.threads);
  if (options.ahead < 1) fail_usage("loader: ahead = {}; at least 1 batch is read ahead", options.ahead);
  expects(options.held >= 1, "a batch that can be used");
  if (options.epoch < 0 || options.step < 0 || options.step > batches_)
    fail_usage("loader: cannot begin at epoch {}, batch {}: an epoch has batches 0 to {}", options.epoch, options.step,
               batches_ - 1);
  expects(options.rank >= 0 && options.rank < options.size, "a rank below the number of ranks");
  expects(sampler.count <= dataset.size(), "a sampler of no more samples than the dataset has");

  make_slots();
  exceptions_ = std::uncaught_exceptions();
  fetching_ = dataset_.foresee({sampler_, options.rank, options.size, options.epoch, options.step, options.last_epoch});
  try {
    for (int i = 0; i < options.threads; ++i) readers_.emplace_back([this] { read_ahead(); });
  } catch (...) {  // a thread could not be started: those already running must not wait forever
    stop_reading();
    throw;
  }
}

void Loader::make_slots() {
  const std::vector<datasets::Field> fields = dataset_.fields();
  slots_.resize(static_cast<std::size_t>(options_.ahead + options_.held));
  std::vector<std::size_t> lengths;
  const auto shape_of = [&](const datasets::Field& field) {
    std::vector<std::int64_t> extents = field.shape.extents();
    extents.insert(extents.begin(), rows_);
    return Shape(std::move(extents));
  };
  for (std::size_t s = 0; s < slots_.size(); ++s)
    for (const datasets::Field& field : fields)
      lengths.push_back(static_cast<std::size_t>(shape_of(field).count()) * sizeof(float));
  arena_ = std::make_unique<PinnedArena>(lengths);
  std::size_t piece = 0;
  for (Slot& slot : slots_) {
    for (const datasets::Field& field : fields)
      slot.batch.fields.emplace_back(shape_of(field), reinterpret_cast<float*>(arena_->piece(piece++)));
    slot.batch.samples.reserve(static_cast<std::size_t>(rows_));
    slot.bad.resize(static_cast<std::size_t>(rows_));
  }
}

Loader::~Loader() { stop_reading(); }

void Loader::stop_reading() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_all();
  // A reader may wait for a sample of another rank. A rank that fails does not serve the others first: they learn of
  // it.
  if (fetching_) fetching_->end(std::uncaught_exceptions() > exceptions_ ? 0 : delivered_);
}

const Batch* Loader::next(bool keep) {
  std::unique_lock lock(mutex_);
  if (!keep && held_ > 0) {
    held_ = 0;
    room_.notify_all();
  }
  expects(held_ < options_.held, "no more batches kept than were asked for");
  if (step_ == batches_) {
    finish_epoch();
    return nullptr;
  }
  expects(delivered_ < limit_, "no batch asked for after the last epoch");
  Slot& slot = slot_of(delivered_);
  const auto complete = [&] { return slot.serial == delivered_ && slot.ready; };
  if (!complete()) {
    const double begin = now_seconds();
    ready_.wait(lock, complete);
    wait_seconds_ += now_seconds() - begin;
  }
  if (slot.error) std::rethrow_exception(slot.error);
  ++delivered_;
  ++step_;
  ++held_;
  epoch_rows_ += slot.batch.count;
  if (slot.batch.skipped > 0) note_skipped(slot);
  return &slot.batch;
}

void Loader::note_skipped(Slot& slot) {
  constexpr std::size_t most_kept = 8;
  skipped_ += slot.batch.skipped;
  epoch_skipped_ += slot.batch.skipped;
  for (std::string& reason : slot.bad)
    if (!reason.empty() && first_skipped_.size() < most_kept) first_skipped_.push_back(std::move(reason));
}

void Loader::finish_epoch() {
  // With several ranks, one may have only bad samples; whether all have is checked where the ranks are summed.
  if (options_.size == 1 && epoch_rows_ == 0 && epoch_skipped_ > 0)
    fail("epoch {}: all {} samples are bad; the first: {}", epoch_ + 1, epoch_skipped_, first_skipped_.at(0));
  ++epoch_;
  step_ = 0;
  epoch_rows_ = epoch_skipped_ = 0;
}

// What one reader does for one batch, as a trace event: from its first row to its last.
class Loader::Recorded {
 public:
  explicit Recorded(const Loader& loader) : trace_(loader.options_.trace), name_(loader.trace_name_) {
    for (const datasets::Field& field : loader.dataset_.fields())
      row_bytes_ += static_cast<double>(field.shape.count()) * sizeof(float);
  }
  ~Recorded() { close(); }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  void row(std::int64_t serial) {
    if (!trace_) return;
    if (serial != serial_) {
      close();
      mark_ = trace_->begin_beside(Lane::reader, Category::input_output, name_);
      serial_ = serial;
    }
    bytes_ += row_bytes_;
  }
  void close() {
    if (serial_ < 0) return;
    trace_->end_beside(mark_, bytes_);
    serial_ = -1;
    bytes_ = 0;
  }

 private:
  StepTrace* const trace_;
  const std::uint32_t name_;
  double row_bytes_ = 0, bytes_ = 0;
  std::int64_t serial_ = -1;  // of the batch; -1: no event is open
  StepTrace::Mark mark_ = 0;
};

void Loader::read_ahead() {
  Recorded recorded(*this);
  std::unique_lock lock(mutex_);
  for (;;) {
    // Batches [delivered - held, claimed] occupy slots; the slot to claim must not be in use by the caller.
    const auto room = [&] {
      const std::int64_t oldest = delivered_ - held_;
      return stop_ || (claimed_ < limit_ && claimed_ - oldest < static_cast<std::int64_t>(slots_.size()));
    };
    if (!room()) recorded.close();
    room_.wait(lock, room);
    if (stop_) return;
    Slot& slot = slot_of(claimed_);
    if (claimed_row_ == 0) prepare(slot, claimed_);
    const std::int64_t row = claimed_row_++;
    if (claimed_row_ == rows_) {
      ++claimed_;
      claimed_row_ = 0;
    }
    const std::int64_t serial = slot.serial;
    lock.unlock();
    recorded.row(serial);
    std::exception_ptr error = fill_row(slot, row);
    lock.lock();
    // Of several failures, the one in the lowest row is reported, so that the message does not depend on the threads.
    if (error && (!slot.error || row < slot.failed_row)) {
      slot.error = std::move(error);
      slot.failed_row = row;
    }
    if (--slot.missing > 0) continue;
    lock.unlock();
    close_up(slot);  // no reader uses this slot any more, and the caller not yet
    lock.lock();
    slot.ready = true;
    ready_.notify_one();
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
  batch.skipped = 0;
  for (std::string& reason : slot.bad) reason.clear();
  slot.serial = serial;
  slot.missing = rows_;
  slot.ready = false;
}

void Loader::close_up(Slot& slot) const {
  Batch& batch = slot.batch;
  std::int64_t kept = 0;
  for (std::int64_t row = 0; row < batch.count; ++row) {
    const auto from = static_cast<std::size_t>(row), to = static_cast<std::size_t>(kept);
    if (!slot.bad[from].empty()) continue;
    if (kept != row) {
      for (const Tensor& field : batch.fields) std::ranges::copy(field.row(row), field.row(kept).begin());
      batch.samples[to] = batch.samples[from];
    }
    ++kept;
  }
  batch.skipped = batch.count - static_cast<int>(kept);
  if (batch.skipped == 0) return;
  for (std::int64_t row = kept; row < batch.count; ++row)
    for (const Tensor& field : batch.fields) std::ranges::fill(field.row(row), 0.0f);
  batch.count = static_cast<int>(kept);
  batch.samples.resize(static_cast<std::size_t>(kept));
}

std::exception_ptr Loader::fill_row(Slot& slot, std::int64_t row) const try {
  const Batch& batch = slot.batch;
  if (row >= batch.count) {
    for (const Tensor& field : batch.fields) std::ranges::fill(field.row(row), 0.0f);
    return nullptr;
  }
  const std::int64_t sample = batch.samples[static_cast<std::size_t>(row)];
  const auto named = [&](const char* problem) {
    return fmt::format("reading {}: {}", dataset_.where(sample), problem);
  };
  try {
    thread_local std::vector<std::span<float>> out;
    out.clear();
    for (const Tensor& field : batch.fields) out.push_back(field.row(row));
    dataset_.read_varied({sampler_.seed, batch.epoch, options_.training}, sample, out);
  } catch (const std::logic_error&) {
    throw;
  } catch (const comm::Aborted&) {  // another rank failed: no sample of this rank is bad
    throw;
  } catch (const Error& problem) {
    if (options_.on_bad == OnBad::fail) throw Error(named(problem.what()));
    slot.bad[static_cast<std::size_t>(row)] = named(problem.what());
  } catch (const std::bad_alloc&) {  // not the sample's fault, so it is not skipped
    throw Error(named("there is not enough memory"));
  } catch (const std::exception& problem) {
    throw Error(named(problem.what()));
  }
  return nullptr;
} catch (...) {
  return std::current_exception();
}

}  // namespace isobar::feeding
