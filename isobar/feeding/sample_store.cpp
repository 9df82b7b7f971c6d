#include "isobar/feeding/sample_store.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm/collectives.hpp"

namespace isobar::feeding {
namespace {

std::string megabytes(std::size_t bytes) { return human_bytes(static_cast<double>(bytes)); }

}  // namespace

std::vector<std::int64_t> share_bounds(const datasets::Dataset& dataset, int ranks) {
  const std::int64_t count = dataset.size();
  std::vector<std::int64_t> bounds;
  for (int rank = 0; rank <= ranks; ++rank) bounds.push_back(count * rank / ranks);
  const std::vector<datasets::FileSpan> spans = dataset.spans();
  if (static_cast<int>(spans.size()) < ranks) return bounds;
  // Each bound moves to the nearest beginning of a file, but not so far that a rank is left without a file.
  std::size_t file = 0;
  for (int rank = 1; rank < ranks; ++rank) {
    std::int64_t& bound = bounds[static_cast<std::size_t>(rank)];
    const auto last = spans.size() - static_cast<std::size_t>(ranks - rank);
    ++file;
    while (file < last && std::abs(spans[file + 1].first - bound) <= std::abs(spans[file].first - bound)) ++file;
    bound = spans[file].first;
  }
  return bounds;
}

SampleStore::SampleStore(std::shared_ptr<const datasets::Dataset> source, const StoreOptions& options, comm::Comm& comm)
    : source_(std::move(source)), options_(options), comm_(duplicate(comm)), fields_(source_->fields()) {
  expects(options.threads >= 1 && options.ahead >= 1, "at least one reader and one batch ahead");
  comm::guarded(*comm_, [&] {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      offsets_.push_back(sample_bytes_);
      const auto numbers = static_cast<std::size_t>(fields_[f].shape.count());
      sample_bytes_ += (numbers * bytes_of(f == 0 ? options_.hold : Hold::float32) + 3) / 4 * 4;
    }
    bounds_ = share_bounds(*source_, comm_->size());
    for (const std::int64_t count : comm::all_gather_number(*comm_, size()))
      if (count != size()) fail("the data set has {} samples here and {} on another rank", size(), count);
    check_quota();
    read_share();
    share_bad_samples();
  });
}

void SampleStore::check_quota() const {
  for (int rank = 0; rank < comm_->size(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const auto samples = static_cast<std::size_t>(bounds_[r + 1] - bounds_[r]);
    if (sample_bytes_ > 0 && samples > static_cast<std::size_t>(options_.max_bytes) / sample_bytes_)
      fail(
          "sample store: rank {} would hold {} samples in {}, more than the {} that are allowed; allow more "
          "(max_gigabytes=...), use more ranks, or hold=float16",
          rank, samples, megabytes(samples * sample_bytes_), megabytes(static_cast<std::size_t>(options_.max_bytes)));
  }
}

void SampleStore::read_share() {
  share_ = Block(static_cast<std::size_t>(last() - first()) * sample_bytes_);
  counters_.bytes_held = static_cast<std::int64_t>(share_.size());
  std::atomic<std::int64_t> next = first(), read = 0;
  std::mutex mutex;
  std::map<std::int64_t, std::exception_ptr> errors;  // by sample: which one is reported does not depend on threads
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < options_.threads; ++i)
      readers.emplace_back([&] {
        std::vector<std::vector<float>> scratch;
        for (std::int64_t index; (index = next++) < last();) {
          try {
            comm_->check();
            read_one(index, scratch);
            ++read;
          } catch (...) {
            const std::lock_guard lock(mutex);
            errors.emplace(index, std::current_exception());
          }
        }
      });
  }
  counters_.samples_read = read;
  for (const auto& [index, error] : errors) {
    try {
      std::rethrow_exception(error);
    } catch (const comm::Aborted&) {
      throw;
    } catch (const std::logic_error&) {
      throw;
    } catch (const Error& problem) {
      if (!options_.keep_bad) fail("reading {}: {}", where(index), problem.what());
      bad_[index] = one_line(problem.what(), 400);
    } catch (const std::exception& problem) {
      fail("reading {}: {}", where(index), problem.what());
    }
  }
}

void SampleStore::read_one(std::int64_t index, std::vector<std::vector<float>>& scratch) {
  std::byte* to = held(index);
  std::vector<std::span<float>> out;
  scratch.resize(1);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const auto numbers = static_cast<std::size_t>(fields_[f].shape.count());
    const bool direct = f > 0 || options_.hold == Hold::float32;
    if (!direct) scratch[0].resize(numbers);
    out.push_back(direct ? std::span(reinterpret_cast<float*>(to + offsets_[f]), numbers) : std::span(scratch[0]));
  }
  source_->read(index, out);
  if (options_.hold != Hold::float32) narrow(options_.hold, scratch[0], to);
}

// All ranks know which samples cannot be read: none waits for them, and each can say what was wrong.
void SampleStore::share_bad_samples() {
  std::string mine;
  for (const auto& [index, problem] : bad_) mine += fmt::format("{} {}\n", index, problem);
  for (const comm::Bytes& bytes : comm::all_gather(*comm_, std::as_bytes(std::span(mine)))) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!text.empty()) {
      const std::string line(text.substr(0, text.find('\n')));
      text.remove_prefix(line.size() + 1);
      bad_[std::stoll(line)] = line.substr(line.find(' ') + 1);
    }
  }
}

std::byte* SampleStore::held(std::int64_t index) const {
  return share_.data() + static_cast<std::size_t>(index - first()) * sample_bytes_;
}

void SampleStore::unpack(std::span<const std::byte> sample, std::span<const std::span<float>> out) const {
  for (std::size_t f = 0; f < out.size(); ++f)
    widen(f == 0 ? options_.hold : Hold::float32, sample.data() + offsets_[f], out[f]);
}

void SampleStore::read_varied(const datasets::Reading& reading, std::int64_t index,
                              std::span<const std::span<float>> out) const {
  expects_request(index, out);
  if (const auto bad = bad_.find(index); bad != bad_.end()) throw Error(bad->second);
  if (index >= first() && index < last()) return unpack({held(index), sample_bytes_}, out);
  std::shared_ptr<SampleExchange> exchange;
  {
    const std::lock_guard lock(mutex_);
    exchange = exchange_;
  }
  if (!exchange) fail("sample {} is held by another rank, and no loader reads", index);
  exchange->take(reading.epoch, index, [&](std::span<const std::byte> sample) { unpack(sample, out); });
}

// Held by a loader, whose end is the end of the course. Readers may still be in the exchange then; it exists until the
// last of them has left.
class SampleStore::Ending final : public datasets::Fetching {
 public:
  Ending(const SampleStore& store, std::shared_ptr<SampleExchange> exchange)
      : store_(store), exchange_(std::move(exchange)) {}
  ~Ending() override { end(0); }

  void end(std::int64_t used) override {
    if (!exchange_) return;
    exchange_->end(used);
    const std::lock_guard lock(store_.mutex_);
    store_.exchange_.reset();
    store_.sent_before_ += exchange_->bytes_sent();
    store_.received_before_ += exchange_->bytes_received();
    exchange_.reset();
  }

 private:
  const SampleStore& store_;
  std::shared_ptr<SampleExchange> exchange_;
};

std::shared_ptr<datasets::Fetching> SampleStore::foresee(const datasets::Course& course) const {
  expects(course.size == comm_->size() && course.rank == comm_->rank(), "a course of the store's ranks");
  if (comm_->size() == 1) return nullptr;
  const std::size_t memory = share_.size() + SampleExchange::memory_bytes(course, options_.ahead, sample_bytes_);
  if (memory > static_cast<std::size_t>(options_.max_bytes))
    fail("sample store: a share of {} and {} batches on their way take {}, more than the {} that are allowed",
         megabytes(share_.size()), options_.ahead + 1, megabytes(memory),
         megabytes(static_cast<std::size_t>(options_.max_bytes)));
  SampleHolders holders{bounds_, sample_bytes_,
                        [this](std::int64_t index) { return std::span<const std::byte>(held(index), sample_bytes_); },
                        [this](std::int64_t index) { return bad_.contains(index); }};
  const std::lock_guard lock(mutex_);
  expects(!exchange_, "one course at a time");
  exchange_ = std::make_shared<SampleExchange>(std::move(holders), course, options_.ahead,
                                               courses_++ % comm::first_reserved_tag, *comm_);
  return std::make_shared<Ending>(*this, exchange_);
}

StoreCounters SampleStore::counters() const {
  const std::lock_guard lock(mutex_);
  StoreCounters counters = counters_;
  counters.bytes_sent = sent_before_ + (exchange_ ? exchange_->bytes_sent() : 0);
  counters.bytes_received = received_before_ + (exchange_ ? exchange_->bytes_received() : 0);
  return counters;
}

StoreCounters SampleStore::counters_of_all() const {
  const StoreCounters mine = counters();
  StoreCounters sum;
  for (const comm::Bytes& bytes : comm::all_gather(*comm_, std::as_bytes(std::span(&mine, 1)))) {
    StoreCounters theirs;
    std::memcpy(&theirs, bytes.data(), sizeof theirs);
    sum.samples_read += theirs.samples_read;
    sum.bytes_held += theirs.bytes_held;
    sum.bytes_sent += theirs.bytes_sent;
    sum.bytes_received += theirs.bytes_received;
  }
  return sum;
}

}  // namespace isobar::feeding
