// sync: every rank applies the mean gradient of all ranks, every step. A bucket of gradients begins to travel as soon
// as it is final, while the backward pass goes on; its weights are updated as soon as it is back, while others travel,
// unless they are clipped together or a step is to be whole or nothing.
#include "isobar/parallel/clip.hpp"
#include "isobar/parallel/exchange.hpp"
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {
namespace {

class Sync final : public Strategy {
 public:
  explicit Sync(ExchangeOptions options)
      : exchange_(std::move(options)),
        batches_(exchange_.deterministic() ? PartialSums::Order::balanced : PartialSums::Order::running) {}

  void take_care(const Care& care) override {
    care_ = care;
    exchange_.take_care(care);
  }
  std::span<float> open(comm::Comm& world, std::size_t gradients) override { return exchange_.open(world, gradients); }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    exchange_.begin(replica, step.index);
    exchange_.count_rows(feeds);
    Buckets& buckets = exchange_.buckets();
    sums_.resize(static_cast<std::size_t>(buckets.count()));
    batches_.run(replica, feeds,
                 {[&] { exchange_.start_summary(replica, batches_); },
                  [&](int p) {
                    if (const int b = buckets.final(p); b >= 0) start(b);
                  }});
    for (const int b : buckets.rest()) start(b);
    const double loss = exchange_.wait_summary(replica);
    FiniteSearch search(care_.finite);
    search.look_at_loss(loss, exchange_.bad_numbers());
    const bool together = care_.whole || step.clip_norm > 0;
    int updated = 0;
    for (int b = 0; b < buckets.count(); ++b) {
      exchange_.wait(b, sums_[static_cast<std::size_t>(b)]);
      search.look(replica, replica.all_gradients(), buckets[b].first, buckets[b].last, step.index);
      if (!together && search.good()) updated += update(replica, b, step);
    }
    search.raise(updated);
    if (together) {
      const optim::Step clipped = clip(replica, replica.all_gradients(), step);
      for (int b = 0; b < buckets.count(); ++b) update(replica, b, clipped);
    }
    return loss;
  }

  void undo(Replica& replica) override { exchange_.undo(replica); }
  bool recovers() const override { return true; }
  void settle(Replica& replica) override { exchange_.settle(replica); }
  void finish(Replica& replica) override { settle(replica); }
  std::span<double> own_numbers() override { return exchange_.own_numbers(); }
  comm::ExchangeCost cost() const override { return exchange_.cost(); }
  std::string describe() const override { return "sync: " + exchange_.describe(); }

 private:
  // What becomes final last belongs to the layers that the next forward pass begins with.
  void start(int b) { sums_[static_cast<std::size_t>(b)] = exchange_.start(b, -1, b); }
  // Returns how many parameters that were.
  int update(Replica& replica, int b, const optim::Step& step) {
    const Bucket& bucket = exchange_.buckets()[b];
    for (int p = bucket.first; p < bucket.last; ++p) replica.update(p, replica.gradient(p), step);
    return bucket.last - bucket.first;
  }

  Care care_;
  Exchange exchange_;
  MicroBatches batches_;
  std::vector<comm::Reducer::Sum> sums_;
};

}  // namespace

extern const Row<Strategy> sync;
const Row<Strategy> sync{
    "sync", "every step, every rank applies the mean gradient of all ranks",
    [](Args& args) -> std::unique_ptr<Strategy> { return std::make_unique<Sync>(read_exchange_options(args)); }};

}  // namespace isobar::parallel
