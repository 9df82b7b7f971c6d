#include "isobar/feeding/loader.hpp"

#include <algorithm>
#include <exception>
#include <span>

#include "isobar/base/error.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/files/read_count.hpp"

namespace isobar::feeding {
namespace {

datasets::Course checked_course(const datasets::Dataset& dataset, const datasets::Sampler& sampler,
                                const LoaderOptions& options) {
  sampler.check();
  if (options.threads < 1) fail_usage("loader: threads = {}; at least 1 reader is needed", options.threads);
  if (options.ahead < 1) fail_usage("loader: ahead = {}; at least 1 batch is read ahead", options.ahead);
  expects(options.held >= 1, "a batch that can be used");
  const std::int64_t batches = sampler.batches();
  if (options.epoch < 0 || options.step < 0 || options.step > batches)
    fail_usage("loader: cannot begin at epoch {}, batch {}: an epoch has batches 0 to {}", options.epoch, options.step,
               batches - 1);
  expects(options.rank >= 0 && options.rank < options.size, "a rank below the number of ranks");
  expects(sampler.count <= dataset.size(), "a sampler of no more samples than the dataset has");
  return {sampler, options.rank, options.size, options.epoch, options.step, options.last_epoch};
}

bool agrees(const LoaderOptions& options) { return options.agree && options.on_bad == OnBad::skip; }

}  // namespace

Loader::Loader(const datasets::Dataset& dataset, const datasets::Sampler& sampler, const LoaderOptions& options)
    : dataset_(dataset),
      options_(options),
      queue_(checked_course(dataset, sampler, options), dataset.fields(), options.ahead, options.held, agrees(options)),
      next_{options.epoch, options.step},
      exceptions_(std::uncaught_exceptions()),
      fetching_(dataset.foresee(queue_.course())) {
  const std::uint32_t name = options.trace ? options.trace->main().intern("reading a batch") : 0;
  try {
    for (int i = 0; i < options.threads; ++i) readers_.emplace_back([this, name] { read_ahead(name); });
  } catch (...) {  // a thread could not be started: those already running must not wait forever
    stop_reading();
    throw;
  }
}

Loader::~Loader() { stop_reading(); }

void Loader::stop_reading() {
  queue_.stop();
  // A reader may wait for a sample of another rank. A rank that fails does not serve the others first: they learn of
  // it.
  if (fetching_) fetching_->end(std::uncaught_exceptions() > exceptions_ ? 0 : queue_.taken());
}

const QueuedBatch& Loader::take(bool keep) {
  QueuedBatch& taken = queue_.take(keep);
  if (agrees(options_)) {
    options_.agree(std::span(taken.bad).first(taken.batch.count));
    leave_out_bad(taken);
  }
  return taken;
}

const Batch* Loader::next(bool keep) {
  if (next_.step == batches()) {
    if (!keep) queue_.give_back();
    finish_epoch();
    return nullptr;
  }
  const QueuedBatch& taken = take(keep);
  ++next_.step;
  epoch_rows_ += taken.batch.count;
  skipped_ += taken.batch.skipped;
  epoch_skipped_ += taken.batch.skipped;
  constexpr std::size_t most_kept = 8;
  if (taken.batch.skipped > 0)
    for (const std::string& reason : taken.bad)
      if (!reason.empty() && first_skipped_.size() < most_kept) first_skipped_.push_back(reason);
  return &taken.batch;
}

void Loader::finish_epoch() {
  // With several ranks, one may have only bad samples; whether all have is checked where the ranks are summed.
  if (options_.size == 1 && epoch_rows_ == 0 && epoch_skipped_ > 0)
    fail("epoch {}: all {} samples are bad; the first: {}", epoch() + 1, epoch_skipped_, first_skipped_.at(0));
  next_ = {epoch() + 1, 0};
  epoch_rows_ = epoch_skipped_ = 0;
}

// What one reader does for one batch, as a trace event: from its first row to its last.
class Loader::Recorded {
 public:
  Recorded(const Loader& loader, std::uint32_t name) : trace_(loader.options_.trace), name_(name) {
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

void Loader::read_ahead(std::uint32_t trace_name) {
  Recorded recorded(*this, trace_name);
  while (const auto claimed = queue_.claim([&] { recorded.close(); })) {
    recorded.row(claimed->serial);
    std::exception_ptr error;
    try {
      read_row(*claimed);
    } catch (...) {
      error = std::current_exception();
    }
    queue_.done(*claimed, std::move(error));
  }
}

void Loader::read_row(const BatchQueue::Row& claimed) const {
  const auto& [slot, serial, row] = claimed;
  const Batch& batch = slot.batch;
  if (row >= batch.count) {
    for (const Tensor& field : batch.fields) std::ranges::fill(field.row(row), 0.0f);
    return;
  }
  const std::int64_t sample = batch.samples[row];
  const auto named = [&](const char* problem) {
    return fmt::format("reading {}: {}", dataset_.where(sample), problem);
  };
  try {
    thread_local std::vector<std::span<float>> out;
    out.clear();
    for (const Tensor& field : batch.fields) out.push_back(field.row(row));
    const std::int64_t before = files::bytes_read_here();
    dataset_.read_varied({queue_.course().sampler.seed, batch.epoch, options_.training}, sample, out);
    bytes_read_ += files::bytes_read_here() - before;
  } catch (const std::logic_error&) {
    throw;
  } catch (const comm::Aborted&) {  // another rank failed: no sample of this rank is bad
    throw;
  } catch (const Error& problem) {
    if (options_.on_bad == OnBad::fail) throw Error(named(problem.what()));
    slot.bad[row] = named(problem.what());
  } catch (const std::bad_alloc&) {  // not the sample's fault, so it is not skipped
    throw Error(named("there is not enough memory"));
  } catch (const std::exception& problem) {
    throw Error(named(problem.what()));
  }
}

}  // namespace isobar::feeding
