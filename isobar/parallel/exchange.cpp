#include "isobar/parallel/exchange.hpp"

#include <algorithm>
#include <bit>

#include "isobar/base/loops.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::parallel {

StrategyTraits ExchangeOptions::traits() const {
  return {.warn_seconds = reducer.warn_seconds, .stall_seconds = reducer.stall_seconds};
}

StepNeeds ExchangeOptions::needs(const PlannedRank& rank, int copies, std::int64_t every) const {
  const auto& [role, team, places, gradients, slots, names, teams] = rank;
  const Buckets buckets(places, gradients, bucket_numbers());
  const bool feedback = reducer.codec->carriage() == codec::Carriage::gathered;
  StepNeeds needs{.bytes = (copies + (feedback ? 2 : 0)) * gradients * sizeof(float)};
  for (const Bucket& bucket : buckets.all()) {
    std::vector<comm::Range> tensors;
    for (int p = bucket.first; p < bucket.last && feedback; ++p) tensors.push_back({places[p].offset, places[p].count});
    needs.traffic += comm::traffic_of(team, {.range = bucket.range, .parts = tensors}, reducer);
  }
  needs.traffic = {(needs.traffic.messages + every - 1) / every, (needs.traffic.bytes + every - 1) / every};
  needs.traffic += needs_of_numbers(rank);
  return needs;
}

comm::Traffic ExchangeOptions::needs_of_numbers(const PlannedRank& rank) const {
  return comm::traffic_of(rank.circle, {.range = {rank.gradients, StepNumbers::count}, .exact = true}, reducer);
}

ExchangeOptions read_exchange_options(Args& args) {
  ExchangeOptions options;
  options.reducer.algorithm = args.spec("algorithm", "auto");
  const char* const key = args.has("wire") ? "wire" : "codec";
  Spec codec = args.spec(key, "float");
  options.reducer.codec = make(codec::codecs(), codec, "codec", &codec);
  args.record(key, codec);
  options.bucket_mb = args.real("bucket_mb", 4);
  args.require(options.bucket_mb >= 0 && options.bucket_mb <= 1e6, "bucket_mb must lie between 0 and 1000000");
  options.deterministic = args.flag("deterministic", false);
  options.reducer.warn_seconds = args.real("warn_seconds", 10);
  options.reducer.stall_seconds = args.real("stall_seconds", 60);
  args.require(options.reducer.warn_seconds > 0, "warn_seconds must be above 0");
  args.require(options.reducer.stall_seconds > 0, "stall_seconds must be above 0");
  if (!options.deterministic) return options;
  args.require(options.reducer.codec->is_plain(), "deterministic sums travel as float");
  const std::string& algorithm = options.reducer.algorithm.name();
  args.require(algorithm == "auto" || algorithm == "reproducible",
               "deterministic sums are made by the algorithm 'reproducible'");
  options.reducer.algorithm = "reproducible";
  return options;
}

StepExchange::StepExchange(Exchange& exchange, Replica& replica, std::span<const Feed> feeds)
    : exchange_(exchange),
      replica_(replica),
      feeds_(feeds),
      guard_(exchange.start_, replica),
      rows_before_(exchange.rows_) {
  for (const Feed& feed : feeds) exchange_.rows_ += static_cast<double>(rows_of(feed));
}

StepExchange::~StepExchange() {
  if (guard_.failed()) exchange_.rows_ = rows_before_;
  if (exchange_.feedback_) guard_.failed() ? exchange_.feedback_->drop() : exchange_.feedback_->commit();
}

BucketSums StepExchange::compute_and_sum() {
  expects(std::exchange(phase_, Phase::computed) == Phase::begun, "a step is computed once");
  Buckets& buckets = exchange_.parts_->buckets;
  buckets.begin();
  BucketSums sums(buckets.all().size());
  // What becomes final last belongs to the layers that the next forward pass begins with.
  const auto start = [&](int b) { sums[static_cast<std::size_t>(b)] = exchange_.start_bucket(replica_, b, -1, b); };
  exchange_.batches_.run(replica_, feeds_,
                         {[&] { exchange_.start_summary(replica_, 0); },
                          [&](int p) {
                            if (const int b = buckets.final(p); b >= 0) start(b);
                          }});
  for (const int b : buckets.rest()) start(b);
  return sums;
}

void StepExchange::compute(const std::function<std::size_t()>& bad) {
  expects(std::exchange(phase_, Phase::computed) == Phase::begun, "a step is computed once");
  exchange_.batches_.run(replica_, feeds_, {});
  exchange_.start_summary(replica_, bad());
}

BucketSums StepExchange::sum(int copy, int priority) {
  expects(copy >= 0 || phase_ != Phase::begun, "gradients are summed when they were computed");
  BucketSums sums;
  for (int b = 0; b < exchange_.parts_->buckets.count(); ++b)
    sums.push_back(exchange_.start_bucket(replica_, b, copy, priority));
  return sums;
}

ForwardSummary StepExchange::summary() {
  expects(std::exchange(phase_, Phase::summed_up) == Phase::computed, "a step is summed up once, when it was computed");
  StepNumbers& numbers = exchange_.parts_->numbers;
  numbers.wait();
  if (exchange_.options_.deterministic) take_statistics(replica_);
  return {static_cast<double>(numbers[StepNumbers::loss]), static_cast<double>(numbers[StepNumbers::bad])};
}

Exchange::Exchange(ExchangeOptions options, const Care& care, comm::Comm& world, std::size_t gradients, int copies)
    : options_(std::move(options)),
      care_(care),
      world_(world),
      gradients_(gradients),
      batches_(options_.deterministic ? PartialSums::Order::balanced : PartialSums::Order::running) {
  if (options_.deterministic && !std::has_single_bit(static_cast<unsigned>(world.size())))
    fail_usage("deterministic = true needs 1, 2, 4, 8, ... ranks, here are {}", world.size());
  post_mortem::flight_recorder().forget_sums();  // of groups that are gone
  memory_ = comm::gradient_memory(world, gradients * (1 + static_cast<std::size_t>(copies)) + StepNumbers::count,
                                  options_.reducer);
  reducer_ = comm::make_reducer(world, *memory_, options_.reducer);
  if (options_.reducer.codec->carriage() == codec::Carriage::gathered) feedback_.emplace(gradients);
}

std::span<float> Exchange::copy(int c) const {
  return reducer_->memory().subspan(gradients_ + StepNumbers::count + static_cast<std::size_t>(c) * gradients_,
                                    gradients_);
}

Exchange::Parts::Parts(const Exchange& exchange, const Replica& replica)
    : buckets(replica.places(), replica.gradients().size(), exchange.options_.bucket_numbers()),
      watch(exchange.world_, replica.trace(), buckets.count()),
      numbers(*exchange.reducer_, exchange.gradients_, buckets.untrained(), watch) {}

Exchange::Parts& Exchange::parts(const Replica& replica) {
  expects(replica.gradients().data() == gradients().data() && replica.gradients().size() == gradients_,
          "gradients in the memory of the exchange");
  if (!parts_) parts_.emplace(*this, replica);
  return *parts_;
}

StepExchange Exchange::begin(Replica& replica, std::span<const Feed> feeds, std::int64_t step) {
  parts(replica).watch.begin(step);
  return {*this, replica, feeds};
}

comm::Reducer::Sum Exchange::start_bucket(Replica& replica, int b, int copy, int priority) {
  const Bucket& bucket = parts_->buckets[b];
  const std::size_t shift =
      copy < 0 ? 0 : gradients_ + StepNumbers::count + static_cast<std::size_t>(copy) * gradients_;
  const comm::Range range{bucket.range.begin + shift, bucket.range.count};
  std::vector<comm::Range> tensors;
  if (feedback_)
    for (int p = bucket.first; p < bucket.last; ++p)
      tensors.push_back({replica[p].offset + shift, replica[p].gradient.size()});
  const std::span<float> numbers = reducer_->memory().subspan(range.begin, range.count);
  const auto with_feedback = [&](auto work) {
    if (feedback_) replica.timed(encoding_, parts_->watch.step(), 3.0 * numbers.size_bytes(), work);
  };
  comm::Reducer::Sum sum{};
  with_feedback([&] { feedback_->add_to(numbers, bucket.range.begin); });
  // On one node the sum is partly made here, by who starts it.
  parts_->watch.timed(
      b, 0, [&] { sum = parts_->watch.start(*reducer_, {.range = range, .priority = priority, .parts = tensors}, b); });
  with_feedback([&] { feedback_->keep_lost(numbers, bucket.range.begin); });
  return sum;
}

void Exchange::wait(const BucketSums& sums, int b) {
  if (sums.empty()) return;
  parts_->watch.wait(b, static_cast<double>(parts_->buckets[b].range.count * sizeof(float)),
                     [&] { reducer_->wait(sums[static_cast<std::size_t>(b)]); });
}

void Exchange::start_summary(const Replica& replica, std::size_t bad) {
  StepNumbers& numbers = parts_->numbers;
  numbers[StepNumbers::loss] = batches_.loss();
  numbers[StepNumbers::rows] = 0;
  if (care_.finite) bad += spoilt_statistics(replica, options_.deterministic);
  numbers[StepNumbers::bad] = static_cast<float>(bad);
  numbers.start(options_.deterministic);
}

void Exchange::settle(const Replica& replica) {
  if (options_.deterministic || world_.size() == 1) return;
  if (parts(replica).buckets.untrained().empty()) return;
  StepNumbers& numbers = parts_->numbers;
  const auto mine = static_cast<float>(rows_);
  for (const ReplicaParameter& parameter : replica.parameters())
    if (!parameter.trained)
      std::ranges::transform(parameter.weight, parameter.gradient.begin(), [&](float v) { return mine * v; });
  numbers[StepNumbers::rows] = mine;
  numbers.start(true);
  numbers.wait();
  const float rows = numbers[StepNumbers::rows];
  rows_ = 0;
  // Nothing was seen since the last time: they are equal already, and stay what they are to the last bit.
  if (rows == 0) return;
  for (const ReplicaParameter& parameter : replica.parameters())
    if (!parameter.trained)
      std::ranges::transform(parameter.gradient, parameter.weight.begin(), [&](float v) { return v / rows; });
}

std::optional<float> Exchange::share_of(const Replica& replica, double weight) {
  StepNumbers& numbers = parts(replica).numbers;
  numbers[StepNumbers::loss] = numbers[StepNumbers::bad] = 0;
  numbers[StepNumbers::rows] = static_cast<float>(weight);
  numbers.start(false);
  numbers.wait();
  const float all = numbers[StepNumbers::rows];
  return all > 0 ? std::optional(static_cast<float>(weight) / all) : std::nullopt;
}

// They travel as they are, in the memory of the gradients.
void Exchange::average(Replica& replica, float share) {
  if (world_.size() == 1) return;
  Parts& now = parts(replica);
  const std::span<float> weights = replica.weights(), sums = replica.gradients();
  const double bytes = 2.0 * static_cast<double>(weights.size_bytes());
  const auto copy = [&](std::span<float> to, std::span<const float> from, float scale) {
    replica.timed(averaging_, now.watch.step(), bytes, [&] {
      in_parts(to.size(), [=](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) to[i] = scale * from[i];
      });
    });
  };
  copy(sums, weights, share);
  const int which = now.watch.numbers();
  now.watch.wait(which, bytes / 2, [&] {
    reducer_->wait(
        now.watch.start(*reducer_, {.range = {0, gradients_}, .what = "mean of models", .exact = true}, which));
  });
  copy(weights, sums, 1);
}

exec::StateBlocks Exchange::state() {
  // Without running statistics, or where they are equal on all ranks anyway, nobody needs the count.
  const bool in_use = parts_ && !options_.deterministic && !parts_->buckets.untrained().empty();
  exec::StateBlocks blocks = {{.name = "samples since the last mean",
                               .content = std::span(&rows_, 1),
                               .scope = exec::StateBlock::Scope::each_rank,
                               .may_drop = true,
                               .in_use = in_use}};
  if (feedback_) blocks.push_back(feedback_->state());
  return blocks;
}

std::string Exchange::describe() const {
  return fmt::format("{}, {}{}", reducer_->describe(),
                     options_.bucket_mb > 0 ? fmt::format("buckets of {:g} MB", options_.bucket_mb)
                                            : std::string("a bucket for each parameter"),
                     options_.deterministic ? ", deterministic" : "");
}

}  // namespace isobar::parallel
