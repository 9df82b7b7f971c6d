// hogwild (Niu et al. 2011): ranks of one node train on one set of weights in shared memory, each at its own pace and
// without locks. A rank reads the weights before its step, and adds what the step has changed; what others have changed
// meanwhile stays. Each rank keeps the momentum for itself. What comes out depends on who comes first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/parallel/exchange.hpp"
#include "isobar/parallel/shared_weights.hpp"

namespace isobar::parallel {
namespace {

/// The steps of all ranks are added up: that is one step by all gradients if a step is proportional to its gradient.
/// With rules that scale it, as adam does, several ranks together overshoot. Tries the rule out on a weight.
void expect_proportional(Replica& replica) {
  const auto trained = std::ranges::find(replica.parameters(), true, &ReplicaParameter::trained);
  if (trained == replica.parameters().end() || replica.pretends(0)) return;
  const auto copy = [](std::span<float> numbers) { return std::vector<float>(numbers.begin(), numbers.end()); };
  const std::vector<float> weights = copy(trained->weight);
  std::vector<std::vector<float>> slots;
  for (const std::span<float> slot : trained->slots) slots.push_back(copy(slot));
  const auto moved_by = [&](float gradient) {
    std::ranges::fill(trained->weight, 1.0f);
    for (const std::span<float> slot : trained->slots) std::ranges::fill(slot, 0.0f);
    const std::vector<float> gradients(trained->weight.size(), gradient);
    const int p = static_cast<int>(trained - replica.parameters().begin());
    replica.update(p, gradients, {.index = 1, .learning_rate = 0.125});
    return static_cast<double>(trained->weight[0]) - 1;
  };
  const double still = moved_by(0), once = moved_by(1) - still, twice = moved_by(2) - still;
  std::ranges::copy(weights, trained->weight.begin());
  for (std::size_t s = 0; s < slots.size(); ++s) std::ranges::copy(slots[s], trained->slots[s].begin());
  if (std::abs(twice - 2 * once) > 1e-4 * std::abs(once) || (once == 0 && still != 0))
    fail_usage(
        "strategy 'hogwild' adds up the steps of all ranks, so that they must be proportional to gradients; those of "
        "this optimizer are not; valid: sgd, with or without momentum");
}

class Hogwild final : public Strategy {
 public:
  Hogwild(const ExchangeOptions& options, std::unique_ptr<Strategy> inner)
      : Strategy({.recovers = false,
                  .gradients_in_arena = inner->traits().gradients_in_arena,
                  .whole_models = true,
                  .warn_seconds = options.reducer.warn_seconds,
                  .stall_seconds = options.reducer.stall_seconds}),
        inner_(std::move(inner)) {}

  Roles roles(int ranks) const override {
    Roles roles = Strategy::roles(ranks);
    std::iota(roles.team.begin(), roles.team.end(), 0);
    roles.pace = comm::Pace::free;
    return roles;
  }
  // The shared weights, and a copy of what was read.
  StepNeeds needs(const PlannedRank& rank) const override {
    const std::size_t model = rank.gradients * sizeof(float);
    return {.bytes = model + model / static_cast<std::size_t>(rank.teams)};
  }

  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    const int nodes = 1 + *std::ranges::max_element(world.nodes());
    if (nodes > 1)
      fail_usage(
          "strategy 'hogwild' keeps the weights in memory that all ranks share, but the {} ranks are on {} nodes; "
          "valid: ranks of one node, or another strategy, such as async",
          world.size(), nodes);
    node_ = duplicate(world);
    alone_ = comm::alone();
    return inner_->open(*alone_, gradients, care);
  }

  void begin(Replica& replica, std::int64_t steps) override {
    expect_proportional(replica);
    inner_->begin(replica, steps);
    for (const ReplicaParameter& each : replica.parameters())
      if (!each.trained) statistics_ += each.weight.size();
    shared_.emplace(*node_, replica.gradients().size());
    gathered_.emplace(*node_, statistics_ * node_->size());
    stop_.emplace(*node_, 1);
    was_.resize(replica.pretends(0) ? 0 : replica.gradients().size());
    if (node_->rank() == 0)
      for_trained(replica, 0, 8, [&](const ReplicaParameter& each) { shared_->write(each.offset, each.weight); });
    put_statistics(replica);
    comm::barrier(*node_);
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    for_trained(replica, step.index, 16, [&](const ReplicaParameter& each) {
      shared_->read(each.offset, each.weight);
      std::ranges::copy(each.weight, each.in(std::span(was_)).begin());
    });
    const double loss = inner_->step(replica, feeds, step);
    for_trained(replica, step.index, 16, [&](const ReplicaParameter& each) {
      shared_->change(each.offset, each.in(std::span<const float>(was_)), each.weight);
    });
    put_statistics(replica);
    ++steps_;
    return loss;
  }

  void settle(Replica& replica, Settle until) override {
    if (until == Settle::sums || finished_) return;
    if (until == Settle::updates) finish();
    if (node_->rank() > 0) return;
    for_trained(replica, 0, 8, [&](const ReplicaParameter& each) { shared_->read(each.offset, each.weight); });
    take_mean_statistics(replica);
  }
  bool stops(bool mine) override {
    float stop = mine ? 1 : 0;
    if (mine) stop_->write(0, {&stop, 1});
    stop_->read(0, {&stop, 1});
    return stop > 0;
  }
  void end(Replica& replica) override { settle(replica, Settle::updates); }

  comm::ExchangeCost cost() const override { return {.sums = steps_}; }
  std::string describe() const override {
    return fmt::format("hogwild: one set of weights that {} rank{} change without locks; not reproducible",
                       node_ ? node_->size() : 1, node_ && node_->size() == 1 ? "" : "s");
  }

 private:
  static constexpr int done_tag = 0, over_tag = 1;

  template <class Work>
  void for_trained(Replica& replica, std::int64_t step, double bytes_each, const Work& work) {
    double numbers = 0;
    for (const ReplicaParameter& each : replica.parameters())
      if (each.trained) numbers += static_cast<double>(each.weight.size());
    replica.timed(sharing_, step, bytes_each * numbers, [&] {
      for (const ReplicaParameter& each : replica.parameters())
        if (each.trained) work(each);
    });
  }

  // Running statistics do not add up: every rank shows its own.
  void put_statistics(Replica& replica) {
    std::size_t at = statistics_ * static_cast<std::size_t>(node_->rank());
    if (replica.pretends(8.0 * static_cast<double>(statistics_))) return;
    for (const ReplicaParameter& each : replica.parameters()) {
      if (each.trained) continue;
      gathered_->write(at, each.weight);
      at += each.weight.size();
    }
  }

  void take_mean_statistics(Replica& replica) {
    if (replica.pretends(4.0 * static_cast<double>(statistics_) * node_->size())) return;
    std::vector<float> theirs(statistics_);
    std::vector<double> sum(statistics_);
    for (int rank = 0; rank < node_->size(); ++rank) {
      gathered_->read(statistics_ * static_cast<std::size_t>(rank), theirs);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(theirs[i]);
    }
    std::size_t at = 0;
    for (const ReplicaParameter& each : replica.parameters())
      if (!each.trained)
        for (float& number : each.weight) number = static_cast<float>(sum[at++] / node_->size());
  }

  // The first rank hears from all, and tells them. Who has died is not missed.
  void finish() {
    finished_ = true;
    std::int64_t word = 0;
    const auto bytes = std::as_writable_bytes(std::span(&word, 1));
    if (node_->rank() > 0) {
      node_->send(0, done_tag, bytes);
      node_->receive(0, over_tag, bytes);
      return;
    }
    const auto each_other = [&](auto talk) {
      for (int rank = 1; rank < node_->size(); ++rank) {
        try {
          talk(rank);
        } catch (const comm::PeerDied&) {  // it has nothing left to do
        }
      }
    };
    each_other([&](int rank) { node_->receive(rank, done_tag, bytes); });
    each_other([&](int rank) { node_->send(rank, over_tag, bytes); });
  }

  std::unique_ptr<Strategy> inner_;
  std::unique_ptr<comm::Comm> node_, alone_;               // once it is open
  std::optional<SharedWeights> shared_, gathered_, stop_;  // from begin() on: weights; statistics of all ranks; a wish
  std::vector<float> was_;                                 // the weights that this rank has read, like gradients
  std::size_t statistics_ = 0;                             // numbers of these, of a rank
  std::int64_t steps_ = 0;
  bool finished_ = false;
  Chore sharing_{Category::copy, "shared weights"};
};

}  // namespace

extern const Row<Strategy> hogwild;
const Row<Strategy> hogwild{
    "hogwild", "ranks of one node change one set of weights in shared memory, without locks",
    [](Args& args) -> std::unique_ptr<Strategy> {
      const ExchangeOptions options = read_exchange_options(args);
      args.require(options.reducer.codec->is_plain(), "codec must be float: weights in shared memory do not travel");
      args.require(!options.deterministic, "deterministic cannot be: what comes out depends on which rank comes first");
      return std::make_unique<Hogwild>(options, make(strategies(), "solo", "strategy"));
    }};

}  // namespace isobar::parallel
