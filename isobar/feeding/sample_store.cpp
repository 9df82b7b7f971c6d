#include "isobar/feeding/sample_store.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm/collectives.hpp"

namespace isobar::feeding {

std::vector<std::int64_t> share_bounds(const datasets::Dataset& dataset, int ranks) {
  const std::int64_t count = dataset.size();
  std::vector<std::int64_t> bounds;
  for (int rank = 0; rank <= ranks; ++rank) bounds.push_back(count * rank / ranks);
  const std::vector<datasets::FileSpan> spans = dataset.spans();
  if (std::ssize(spans) < ranks) return bounds;
  // Each bound moves to the nearest beginning of a file, but not so far that a rank is left without a file.
  std::size_t file = 0;
  for (int rank = 1; rank < ranks; ++rank) {
    std::int64_t& bound = bounds[rank];
    const std::size_t last = spans.size() - (ranks - rank);
    ++file;
    while (file < last && std::abs(spans[file + 1].first - bound) <= std::abs(spans[file].first - bound)) ++file;
    bound = spans[file].first;
  }
  return bounds;
}

SampleStore::SampleStore(std::shared_ptr<const datasets::Dataset> source, const StoreOptions& options, comm::Comm& comm)
    : source_(std::move(source)),
      options_(options),
      comm_(duplicate(comm)),
      fields_(source_->fields()),
      whole_(whole_region(fields_)) {
  expects(options.threads >= 1 && options.ahead >= 1, "at least one reader and one batch ahead");
  if (options_.region.empty()) options_.region = whole_;
  expects(options_.region.size() == fields_.size(), "a box for every field");
  comm::guarded(*comm_, [&] {
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      offsets_.push_back(held_.sample_bytes);
      held_.sample_bytes += (options_.region[f].count() * bytes_of(f == 0 ? options_.hold : Hold::float32) + 3) / 4 * 4;
    }
    held_.bounds = share_bounds(*source_, comm_->size());
    held_.first = held_.bounds[comm_->rank()];
    for (const std::int64_t count : comm::all_gather_number(*comm_, size()))
      if (count != size()) fail("the data set has {} samples here and {} on another rank", size(), count);
    check_quota();
    read_share();
    share_bad_samples();
  });
}

void SampleStore::check_quota() const {
  for (int rank = 0; rank < comm_->size(); ++rank) {
    const std::size_t samples = held_.bounds[rank + 1] - held_.bounds[rank], bytes = held_.sample_bytes;
    if (bytes > 0 && samples > options_.max_bytes / bytes)
      fail(
          "sample store: rank {} would hold {} samples in {}, more than the {} that are allowed; allow more "
          "(max_gigabytes=...), use more ranks, or hold=float16",
          rank, samples, human_bytes(samples * bytes), human_bytes(options_.max_bytes));
  }
}

void SampleStore::read_share() {
  held_.share = Block((last() - first()) * held_.sample_bytes);
  std::atomic<std::int64_t> next = first();
  std::mutex mutex;
  std::map<std::int64_t, std::exception_ptr> errors;  // by sample: which one is reported does not depend on threads
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < options_.threads; ++i)
      readers.emplace_back([&] {
        std::vector<float> scratch;
        for (std::int64_t index; (index = next++) < last();) {
          try {
            comm_->check();
            read_one(index, scratch);
          } catch (...) {
            const std::lock_guard lock(mutex);
            errors.emplace(index, std::current_exception());
          }
        }
      });
  }
  samples_read_ = last() - first() - std::ssize(errors);
  for (const auto& [index, error] : errors) {
    try {
      std::rethrow_exception(error);
    } catch (const comm::Aborted&) {
      throw;
    } catch (const std::logic_error&) {
      throw;
    } catch (const Error& problem) {
      if (!options_.keep_bad) fail("reading {}: {}", where(index), problem.what());
      held_.bad[index] = one_line(problem.what(), 400);
    } catch (const std::exception& problem) {
      fail("reading {}: {}", where(index), problem.what());
    }
  }
}

void SampleStore::read_one(std::int64_t index, std::vector<float>& scratch) {
  std::byte* to = held_.at(index).data();
  std::vector<std::span<float>> out;
  for (std::size_t f = 0; f < fields_.size(); ++f)
    out.emplace_back(reinterpret_cast<float*>(to + offsets_[f]), options_.region[f].count());
  if (options_.hold != Hold::float32) {
    scratch.resize(out[0].size());
    out[0] = scratch;
  }
  source_->read_region({}, index, options_.region, out);
  if (options_.hold != Hold::float32) narrow(options_.hold, scratch, to);
}

// All ranks know which samples cannot be read: none waits for them, and each can say what was wrong.
void SampleStore::share_bad_samples() {
  std::string mine;
  for (const auto& [index, problem] : held_.bad) mine += fmt::format("{} {}\n", index, problem);
  for (const comm::Bytes& bytes : comm::all_gather(*comm_, std::as_bytes(std::span(mine)))) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!text.empty()) {
      const std::string line(text.substr(0, text.find('\n')));
      text.remove_prefix(line.size() + 1);
      held_.bad[std::stoll(line)] = line.substr(line.find(' ') + 1);
    }
  }
}

void SampleStore::unpack(std::span<const std::byte> sample, std::span<const Box> region,
                         std::span<const std::span<float>> out) const {
  for (std::size_t f = 0; f < out.size(); ++f) {
    const Hold hold = f == 0 ? options_.hold : Hold::float32;
    const Box &held = options_.region[f], &wanted = region[f];
    IndexArray at(wanted.begin);
    for (std::size_t a = 0; a < at.rank; ++a) at[a] -= held.begin[a];
    const Indices extent = wanted.shape.extents();
    for_each_run(extent, held.shape.extents(), at, extent, IndexArray(at.rank),
                 [&](std::int64_t source, std::int64_t target, std::int64_t count) {
                   widen(hold, sample.data() + offsets_[f] + source * bytes_of(hold), out[f].subspan(target, count));
                 });
  }
}

void SampleStore::read_varied(const datasets::Reading& reading, std::int64_t index,
                              std::span<const std::span<float>> out) const {
  read_region(reading, index, whole_, out);
}

void SampleStore::read_region(const datasets::Reading& reading, std::int64_t index, std::span<const Box> region,
                              std::span<const std::span<float>> out) const {
  expects_request(index, region, out);
  for (std::size_t f = 0; f < region.size(); ++f)
    if (!options_.region[f].contains(region[f]))
      fail("{} of '{}' is not held here, but only {}", region[f].str(), fields_[f].name, options_.region[f].str());
  if (const auto bad = held_.bad.find(index); bad != held_.bad.end()) throw Error(bad->second);
  if (index >= first() && index < last()) return unpack(held_.at(index), region, out);
  std::shared_ptr<SampleExchange> exchange;
  {
    const std::lock_guard lock(mutex_);
    exchange = exchange_.lock();
  }
  if (!exchange) fail("sample {} is held by another rank, and no loader reads", index);
  exchange->take(reading.epoch, index, [&](std::span<const std::byte> sample) { unpack(sample, region, out); });
}

std::shared_ptr<datasets::Fetching> SampleStore::foresee(const datasets::Course& course) const {
  expects(course.size == comm_->size() && course.rank == comm_->rank(), "a course of the store's ranks");
  if (comm_->size() == 1) return nullptr;
  const std::size_t share = held_.share.size();
  const std::size_t memory = share + (options_.ahead + 1) * course.rows() * held_.sample_bytes;
  if (memory > static_cast<std::size_t>(options_.max_bytes))
    fail("sample store: a share of {} and {} batches on their way take {}, more than the {} that are allowed",
         human_bytes(share), options_.ahead + 1, human_bytes(memory), human_bytes(options_.max_bytes));
  const std::lock_guard lock(mutex_);
  expects(exchange_.expired(), "one course at a time");
  const int tag = courses_++ % comm::first_reserved_tag;
  auto exchange = std::make_shared<SampleExchange>(held_, course, options_.ahead, tag, *comm_, exchanged_);
  exchange_ = exchange;
  return exchange;
}

StoreCounters SampleStore::counters() const {
  const std::int64_t held = held_.share.size();
  return {samples_read_, held, exchanged_.sent, exchanged_.received};
}

}  // namespace isobar::feeding
