// lagged: the mean gradient of step t is applied k steps later, after the backward pass of step t + k: it has that long
// to travel, from a copy, while steps go on with weights k updates old. Each gradient is applied with the number and
// the rate of its own step, so that N steps and finish() make the N updates of the steps 1 to N, in order; the first k
// steps apply nothing. k = 0 is sync. A rank looks at its own gradients before they are laid aside and says so with the
// loss: bad ones are known in their own step, and only what the sum itself spoils is found when it is due.
#include <algorithm>

#include "isobar/parallel/clip.hpp"
#include "isobar/parallel/exchange.hpp"
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {
namespace {

constexpr std::int64_t most_copies = 64;

class Lagged final : public Strategy {
 public:
  Lagged(std::int64_t lag, ExchangeOptions options)
      : exchange_(std::move(options)),
        batches_(exchange_.deterministic() ? PartialSums::Order::balanced : PartialSums::Order::running),
        sums_(static_cast<std::size_t>(lag)),
        numbers_(static_cast<std::size_t>(lag) * numbers_each) {}

  void take_care(const Care& care) override {
    care_ = care;
    exchange_.take_care(care);
  }
  std::span<float> open(comm::Comm& world, std::size_t gradients) override {
    return exchange_.open(world, gradients, copies());
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    exchange_.begin(replica, step.index);
    exchange_.count_rows(feeds);
    batches_.run(replica, feeds, {});
    exchange_.start_summary(replica, batches_, own_bad(replica, step));
    std::vector<comm::Reducer::Sum> sums;
    if (copies() == 0) sums = start(-1);
    const double loss = expect_finite_summary(replica, sums);
    if (copies() == 0) {
      apply(replica, replica.all_gradients(), sums, step);
    } else {
      // Where nothing lies the number of the step is 0; so that is taken first, and then the oldest.
      const int next = oldest();
      apply(replica, next);
      keep(replica, next, step);
    }
    return loss;
  }

  void undo(Replica& replica) override { exchange_.undo(replica); }
  // Sums of earlier steps are lost with a rank.
  bool recovers() const override { return copies() == 0; }

  void rest() override { wait_all(); }
  void settle(Replica& replica) override {
    wait_all();
    exchange_.settle(replica);
  }

  void finish(Replica& replica) override {
    exchange_.prepare(replica);
    for (int c = 0; c < copies(); ++c) apply(replica, oldest_pending());
    exchange_.settle(replica);
  }

  std::vector<std::pair<std::string, std::span<float>>> kept() override {
    std::vector<std::pair<std::string, std::span<float>>> list;
    for (int c = 0; c < copies(); ++c) list.emplace_back(fmt::format("lagged_gradient_{}", c), exchange_.copy(c));
    return list;
  }
  std::span<double> kept_numbers() override { return numbers_; }
  std::span<double> own_numbers() override { return exchange_.own_numbers(); }

  comm::ExchangeCost cost() const override { return exchange_.cost(); }
  std::string describe() const override { return fmt::format("lagged by {}: {}", copies(), exchange_.describe()); }

 private:
  // Of the step a copy was computed in: number, learning rate, scales of decay, rate and gradient, norm to clip to,
  // steps undone before it.
  static constexpr std::size_t numbers_each = 7;

  int copies() const { return static_cast<int>(sums_.size()); }
  double* numbers(int c) { return numbers_.data() + static_cast<std::size_t>(c) * numbers_each; }

  // The copy to be used next: an empty one, or else the oldest.
  int oldest() {
    int first = 0;
    for (int c = 1; c < copies(); ++c)
      if (numbers(c)[0] < numbers(first)[0]) first = c;
    return first;
  }

  int oldest_pending() {
    int first = 0;
    for (int c = 1; c < copies(); ++c)
      if (numbers(c)[0] > 0 && (numbers(first)[0] == 0 || numbers(c)[0] < numbers(first)[0])) first = c;
    return first;
  }

  std::vector<comm::Reducer::Sum> start(int copy) {
    std::vector<comm::Reducer::Sum> sums;
    // What was begun earlier is wanted earlier.
    const int priority = -static_cast<int>(begun_++ % 1'000'000);
    for (int b = 0; b < exchange_.buckets().count(); ++b) sums.push_back(exchange_.start(b, copy, priority));
    return sums;
  }

  void wait(std::vector<comm::Reducer::Sum>& sums) {
    for (std::size_t b = 0; b < sums.size(); ++b) exchange_.wait(static_cast<int>(b), sums[b]);
    sums.clear();
  }

  // Nobody waits for these gradients when the loss is known: what is wrong with them is told beside it.
  std::size_t own_bad(Replica& replica, const optim::Step& step) {
    FiniteSearch search(care_.finite);
    Buckets& buckets = exchange_.buckets();
    for (int b = 0; b < buckets.count(); ++b)
      search.look(replica, replica.all_gradients(), buckets[b].first, buckets[b].last, step.index);
    return search.good() ? 0 : 1;
  }

  double expect_finite_summary(Replica& replica, std::vector<comm::Reducer::Sum>& under_way) {
    const double loss = exchange_.wait_summary(replica);
    FiniteSearch search(care_.finite);
    search.look_at_loss(loss, exchange_.bad_numbers());
    if (!search.good()) wait(under_way), wait_all();
    search.raise();
    return loss;
  }

  void wait_all() {
    for (std::vector<comm::Reducer::Sum>& sums : sums_) wait(sums);
  }

  void keep(Replica& replica, int c, const optim::Step& step) {
    Buckets& buckets = exchange_.buckets();
    const double bytes = 2.0 * static_cast<double>(replica.all_gradients().size_bytes());
    replica.timed(Category::copy, "gradients laid aside", step.index, bytes, [&] {
      for (int b = 0; b < buckets.count(); ++b) {
        const comm::Range range = buckets[b].range;
        copy_to(exchange_.copy(c).subspan(range.begin, range.count),
                replica.all_gradients().subspan(range.begin, range.count));
      }
    });
    const double numbers[] = {static_cast<double>(step.index),
                              step.learning_rate,
                              step.decay_scale,
                              step.rate_scale,
                              step.gradient_scale,
                              step.clip_norm,
                              static_cast<double>(step.undone)};
    std::copy_n(numbers, numbers_each, this->numbers(c));
    sums_[static_cast<std::size_t>(c)] = start(c);
  }

  void apply(Replica& replica, int c) {
    double* const n = numbers(c);
    if (n[0] == 0) return;
    const optim::Step step{static_cast<std::int64_t>(n[0]), n[1], n[2], n[3], n[4], n[5],
                           static_cast<std::int64_t>(n[6])};
    std::fill_n(n, numbers_each, 0.0);  // also when it is bad: nobody shall meet it again
    apply(replica, exchange_.copy(c), sums_[static_cast<std::size_t>(c)], step);
  }

  // Restored from a checkpoint there are no sums to wait for.
  void apply(Replica& replica, std::span<float> gradients, std::vector<comm::Reducer::Sum>& sums,
             const optim::Step& step) {
    Buckets& buckets = exchange_.buckets();
    FiniteSearch search(care_.finite);
    const bool together = care_.whole || step.clip_norm > 0;
    const auto update = [&](int b, const optim::Step& with) {
      for (int p = buckets[b].first; p < buckets[b].last; ++p)
        replica.update(p, gradients.subspan(replica.offset(p), replica.gradient(p).size()), with);
      return buckets[b].last - buckets[b].first;
    };
    int updated = 0;
    for (int b = 0; b < buckets.count(); ++b) {
      if (!sums.empty()) exchange_.wait(b, sums[static_cast<std::size_t>(b)]);
      search.look(replica, gradients, buckets[b].first, buckets[b].last, step.index);
      if (!together && search.good()) updated += update(b, step);
    }
    sums.clear();
    if (!search.good()) wait_all();
    search.raise(updated);
    if (!together) return;
    const optim::Step clipped = clip(replica, gradients, step);
    for (int b = 0; b < buckets.count(); ++b) update(b, clipped);
  }

  Care care_;
  Exchange exchange_;
  MicroBatches batches_;
  std::vector<std::vector<comm::Reducer::Sum>> sums_;  // by copy; none: it is there
  std::vector<double> numbers_;                        // by copy
  std::int64_t begun_ = 0;
};

}  // namespace

extern const Row<Strategy> lagged;
const Row<Strategy> lagged{"lagged", "every rank applies the mean gradient of all ranks of k steps ago",
                           [](Args& args) -> std::unique_ptr<Strategy> {
                             const std::int64_t lag = args.integer("k", 1);
                             args.require(lag >= 0 && lag <= most_copies, "k must lie between 0 and 64");
                             return std::make_unique<Lagged>(lag, read_exchange_options(args));
                           }};

}  // namespace isobar::parallel
