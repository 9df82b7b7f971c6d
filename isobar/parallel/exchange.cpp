#include "isobar/parallel/exchange.hpp"

#include <algorithm>
#include <bit>

#include <climits>

#include "isobar/base/clock.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::parallel {
namespace {

// Behind the gradients, on a cache line of their own.
constexpr std::size_t numbers = 16, loss_at = 0, rows_at = 1, bad_at = 2;

}  // namespace

ExchangeOptions read_exchange_options(Args& args) {
  ExchangeOptions options;
  options.reducer.algorithm = args.spec("algorithm", "auto");
  const std::string wire = args.one_of("wire", "float", {"float", "bf16", "fp16"});
  options.reducer.wire = wire == "bf16"   ? comm::Wire::bfloat16
                         : wire == "fp16" ? comm::Wire::float16
                                          : comm::Wire::float32;
  options.bucket_mb = args.real("bucket_mb", 4);
  args.require(options.bucket_mb >= 0 && options.bucket_mb <= 1e6, "bucket_mb must lie between 0 and 1000000");
  options.deterministic = args.flag("deterministic", false);
  options.reducer.warn_seconds = args.real("warn_seconds", 10);
  options.reducer.stall_seconds = args.real("stall_seconds", 60);
  args.require(options.reducer.warn_seconds > 0, "warn_seconds must be above 0");
  args.require(options.reducer.stall_seconds > 0, "stall_seconds must be above 0");
  if (!options.deterministic) return options;
  args.require(options.reducer.wire == comm::Wire::float32, "deterministic sums travel as float");
  const std::string& algorithm = options.reducer.algorithm.name();
  args.require(algorithm == "auto" || algorithm == "reproducible",
               "deterministic sums are made by the algorithm 'reproducible'");
  options.reducer.algorithm = "reproducible";
  return options;
}

std::span<float> Exchange::open(comm::Comm& world, std::size_t gradients, int copies) {
  if (options_.deterministic && !std::has_single_bit(static_cast<unsigned>(world.size())))
    fail_usage("deterministic = true needs 1, 2, 4, 8, ... ranks, here are {}", world.size());
  world_ = &world;
  gradients_ = gradients;
  copies_ = copies;
  post_mortem::flight_recorder().forget_sums();  // of groups that are gone
  reducer_ = comm::make_reducer(world, gradients * (1 + static_cast<std::size_t>(copies)) + numbers, options_.reducer);
  return reducer_->memory().first(gradients);
}

std::span<float> Exchange::copy(int c) const {
  expects(c >= 0 && c < copies_, "one of the copies");
  return reducer_->memory().subspan(gradients_ + numbers + static_cast<std::size_t>(c) * gradients_, gradients_);
}

void Exchange::prepare(Replica& replica) {
  if (buckets_) return;
  expects(reducer_ != nullptr, "open() before the first step");
  expects(replica.all_gradients().data() == reducer_->memory().data() && replica.all_gradients().size() == gradients_,
          "gradients in the memory that open() gave");
  buckets_.emplace(replica, static_cast<std::size_t>(options_.bucket_mb * 1e6 / sizeof(float)));
  ranges_ = buckets_->untrained();
  // Running statistics come last in the store, so that they mostly travel in one piece with the numbers behind them.
  if (!ranges_.empty() && ranges_.back().end() == gradients_) ranges_.back().count += numbers;
  else ranges_.push_back({gradients_, numbers});
  if (options_.reducer.wire != comm::Wire::float32 && world_->size() > 1) {
    std::size_t count = 0;
    for (const comm::Range& range : ranges_) count += range.count;
    comm::ReducerOptions exact = options_.reducer;
    exact.wire = comm::Wire::float32;
    exact_ = comm::make_reducer(*world_, count, exact);
  }
  // One rank alone exchanges nothing: there is nothing to tell.
  trace_ = world_->size() > 1 ? replica.trace() : nullptr;
  if (!trace_) return;
  for (int b = 0; b < buckets_->count(); ++b)
    names_.push_back(trace_->main().intern(fmt::format("gradients {} of {}", b + 1, buckets_->count())));
  names_.push_back(trace_->main().intern("loss and statistics"));
}

void Exchange::begin(Replica& replica, std::int64_t step) {
  prepare(replica);
  step_ = step;
  rows_before_ = rows_;
  start_.keep(replica);
  buckets_->begin();
  world_->note(fmt::format("step {}: computing", step));
}

void Exchange::count_rows(std::span<const Feed> feeds) {
  for (const Feed& feed : feeds) rows_ += static_cast<double>(rows_of(feed));
}

comm::Reducer::Sum Exchange::start(int b, int copy, int priority) {
  comm::Range range = (*buckets_)[b].range;
  if (copy >= 0) range.begin += gradients_ + numbers + static_cast<std::size_t>(copy) * gradients_;
  const auto name = static_cast<std::uint32_t>(b);
  comm::Reducer::Sum sum{};
  // On one node the sum is partly made here, by who starts it.
  timed(name, 0, [&] {
    const std::string what = fmt::format("gradients {} of {} of step {}", b + 1, buckets_->count(), step_);
    sum = reducer_->start(range, priority, what, watched(what, name, static_cast<double>(range.count * sizeof(float))));
  });
  return sum;
}

// Shows a sum in the trace and in the flight recorder from now on until the function that is returned is called.
std::function<void()> Exchange::watched(const std::string& what, std::uint32_t name, double bytes) {
  if (world_->size() == 1) return {};
  const post_mortem::FlightRecorder::Sum sum = post_mortem::flight_recorder().begin_sum(what);
  if (!trace_) return [sum] { post_mortem::flight_recorder().end_sum(sum); };
  const StepTrace::Mark mark = trace_->begin_beside(Lane::exchange, Category::communication, names_[name]);
  return [sum, trace = trace_, mark, bytes] {
    post_mortem::flight_recorder().end_sum(sum);
    trace->end_beside(mark, bytes);
  };
}

template <class Wait>
void Exchange::timed(std::uint32_t name, double bytes, Wait wait) {
  const double begin = now_seconds();
  wait();
  if (trace_)
    trace_->main().record({Category::communication, names_[name], step_, begin, now_seconds() - begin, 0, bytes});
}

void Exchange::wait(int b, comm::Reducer::Sum sum) {
  world_->note(fmt::format("step {}: gradients {} of {}", step_, b + 1, buckets_->count()));
  timed(static_cast<std::uint32_t>(b), static_cast<double>((*buckets_)[b].range.count * sizeof(float)),
        [&] { reducer_->wait(sum); });
}

// Copies between ranges_ and the memory of exact_, where they lie one behind the other.
template <class Copy>
void Exchange::copy_ranges(Copy copy) {
  std::size_t at = 0;
  for (const comm::Range& range : ranges_) {
    copy(reducer_->memory().subspan(range.begin, range.count), exact_->memory().subspan(at, range.count));
    at += range.count;
  }
}

// Only the range behind the gradients when there are no statistics to sum.
void Exchange::start_numbers(bool statistics) {
  const auto name = static_cast<std::uint32_t>(buckets_->count());
  const std::string what = fmt::format("{} of step {}", statistics ? "loss and statistics" : "loss", step_);
  const auto start = [&](comm::Reducer& reducer, comm::Range range) {
    summary_.push_back(
        reducer.start(range, INT_MAX, what, watched(what, name, static_cast<double>(range.count * sizeof(float)))));
  };
  timed(name, 0, [&] {
    if (exact_) {
      copy_ranges([](auto from, auto to) { std::ranges::copy(from, to.begin()); });
      const std::size_t all = exact_->memory().size(), count = statistics ? all : numbers;
      start(*exact_, {all - count, count});
    } else if (statistics) {
      for (const comm::Range& range : ranges_) start(*reducer_, range);
    } else {
      start(*reducer_, {gradients_, numbers});
    }
  });
}

void Exchange::wait_numbers() {
  world_->note(fmt::format("step {}: loss and statistics", step_));
  timed(static_cast<std::uint32_t>(buckets_->count()), numbers * sizeof(float), [&] {
    for (const comm::Reducer::Sum sum : summary_) (exact_ ? exact_ : reducer_)->wait(sum);
  });
  if (exact_) copy_ranges([](auto to, auto from) { std::ranges::copy(from, to.begin()); });
  summary_.clear();
}

void Exchange::undo(Replica& replica) {
  start_.put_back(replica);
  rows_ = rows_before_;
}

void Exchange::start_summary(Replica& replica, const MicroBatches& batches, std::size_t bad) {
  number(loss_at) = batches.loss();
  number(rows_at) = 0;
  if (care_.finite) bad += spoilt_statistics(replica, options_.deterministic);
  number(bad_at) = static_cast<float>(bad);
  start_numbers(options_.deterministic);
}

double Exchange::wait_summary(Replica& replica) {
  wait_numbers();
  if (options_.deterministic)
    for (int p = 0; p < replica.parameters(); ++p)
      if (!replica.trained(p)) std::ranges::copy(replica.gradient(p), replica.weight(p).begin());
  return static_cast<double>(number(loss_at));
}

double Exchange::bad_numbers() { return static_cast<double>(number(bad_at)); }

void Exchange::settle(Replica& replica) {
  if (options_.deterministic || world_->size() == 1) return;
  prepare(replica);
  if (buckets_->untrained().empty()) return;
  const auto mine = static_cast<float>(rows_);
  for (int p = 0; p < replica.parameters(); ++p)
    if (!replica.trained(p))
      std::ranges::transform(replica.weight(p), replica.gradient(p).begin(), [&](float v) { return mine * v; });
  number(rows_at) = mine;
  start_numbers(true);
  wait_numbers();
  const float all = number(rows_at);
  rows_ = 0;
  // Nothing was seen since the last time: they are equal already, and stay what they are to the last bit.
  if (all == 0) return;
  for (int p = 0; p < replica.parameters(); ++p)
    if (!replica.trained(p))
      std::ranges::transform(replica.gradient(p), replica.weight(p).begin(), [&](float v) { return v / all; });
}

std::string Exchange::describe() const {
  return fmt::format("{}, {}{}", reducer_ ? reducer_->describe() : options_.reducer.algorithm.str(),
                     options_.bucket_mb > 0 ? fmt::format("buckets of {:g} MB", options_.bucket_mb)
                                            : std::string("a bucket for each parameter"),
                     options_.deterministic ? ", deterministic" : "");
}

}  // namespace isobar::parallel
