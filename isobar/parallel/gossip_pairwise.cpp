// Gossip in pairs (AD-PSGD, Lian et al. 2018): every rank trains a model of its own and waits for nobody. Ranks with
// odd numbers offer their models to ranks with even ones, drawn by chance; both end with the mean. Nobody is both, so
// that no two models change places. A rank looks for messages at the ends of its step, and whenever a gradient is
// final. The mean of all models is the model; the first rank asks for them.
#include "isobar/parallel/gossip_pairwise.hpp"

#include <algorithm>
#include <numeric>

#include "isobar/base/loops.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/comm/stall_watch.hpp"
#include "isobar/parallel/own_model.hpp"
#include "isobar/parallel/pair_exchange.hpp"

namespace isobar::parallel {
namespace {

/// Listens while it computes.
class ListeningReplica final : public Replica {
 public:
  using Listen = std::function<void(bool may_change)>;
  /// `inner` must outlive this. listen() hears whether weights may change now.
  ListeningReplica(Replica& inner, Listen listen)
      : Replica({inner.parameters().begin(), inner.parameters().end()}, inner.gradients(), inner.trace(),
                inner.circles()),
        inner_(inner),
        listen_(std::move(listen)) {}

  double forward(const Feed& feed) override {
    listen_(false);
    const double loss = inner_.forward(feed);
    listen_(false);
    return loss;
  }
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override {
    inner_.backward(feed, [&](int p) {
      listen_(false);
      if (ready) ready(p);
    });
  }
  void update(int p, std::span<const float> gradient, const optim::Step& step) override {
    listen_(true);
    inner_.update(p, gradient, step);
  }
  bool pretends(double bytes) override { return inner_.pretends(bytes); }

 private:
  Replica& inner_;
  const Listen listen_;
};

StrategyTraits traits_of(const ExchangeOptions& options, const Strategy& inner) {
  StrategyTraits traits = options.traits();
  traits.recovers = false;
  traits.whole_models = true;
  traits.gradients_in_arena = inner.traits().gradients_in_arena;
  return traits;
}

class GossipInPairs final : public Strategy {
 public:
  GossipInPairs(std::int64_t period, const ExchangeOptions& options, std::unique_ptr<Strategy> inner)
      : Strategy(traits_of(options, *inner)), period_(period), limits_(options.reducer), inner_(std::move(inner)) {}

  Roles roles(int ranks) const override {
    Roles roles = Strategy::roles(ranks);
    std::iota(roles.team.begin(), roles.team.end(), 0);
    roles.pace = comm::Pace::free;
    return roles;
  }

  StepNeeds needs(const PlannedRank& rank) const override {
    if (rank.teams == 1) return {};
    const std::size_t model = rank.gradients * sizeof(float);
    const auto in_a_step = [&](std::int64_t number) { return (number + period_ - 1) / period_; };
    // Two copies of the model while it is offered; where it is asked for, its own, and what it owes.
    return {{in_a_step(2), in_a_step(static_cast<std::int64_t>(sizeof(PairWord) + model))}, 2 * model};
  }

  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    world_ = duplicate(world);
    alone_ = comm::alone();
    return inner_->open(*alone_, gradients, care);
  }

  void begin(Replica& replica, std::int64_t steps) override {
    inner_->begin(replica, steps);
    listening_.emplace(replica, [this](bool may_change) { listen(may_change); });
    words_.emplace(*world_, who_tells());
    offer_.emplace(*world_, *words_);
    answers_.emplace(*world_, *words_);
    done_.resize(world_->size());
    for (int rank = 0; rank < world_->size(); rank += 2) even_.push_back(rank);
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    step_ = step.index;
    own_.take_back(replica);
    listen(true);
    const double loss = inner_->step(*listening_, feeds, step);
    listen(true);
    if (is_active() && step.index % period_ == 0) offer(replica, feeds.front().run.seed);
    return loss;
  }

  void settle(Replica& replica, Settle until) override {
    if (until == Settle::sums || finished_) return;
    if (until == Settle::updates) return finish(replica);
    if (world_->rank() == 0) judge(replica, PairWord::ask_model);
  }
  bool stops(bool mine) override {
    if (mine) stop();
    return stop_;
  }
  void end(Replica& replica) override { settle(replica, Settle::updates); }

  comm::ExchangeCost cost() const override {
    if (!world_ || !offer_) return {};
    return {waited_seconds_, waited_seconds_, offer_->met() + answers_->met(), world_->traffic()};
  }
  std::string describe() const override {
    return fmt::format("gossip: pairs of {} ranks every {} step{}, each at its own pace", world_->size(), period_,
                       period_ == 1 ? "" : "s");
  }
  std::string summary() const override {
    if (!offer_ || world_->size() == 1) return {};
    return fmt::format("rank 0 met others {} times in {} steps", with_commas(answers_->met()), with_commas(step_));
  }

 private:
  bool is_active() const { return world_->rank() % 2 == 1; }

  std::vector<int> who_tells() const {
    std::vector<int> list;
    for (int rank = 0; rank < world_->size(); ++rank) {
      const bool first = world_->rank() == 0 || rank == 0;
      if (rank != world_->rank() && (first || (!is_active() && rank % 2 == 1))) list.push_back(rank);
    }
    return list;
  }

  void stop() {
    if (std::exchange(stop_, true)) return;
    if (world_->rank() > 0) return words_->tell(0, PairWord::stop);
    for (int rank = 1; rank < world_->size(); ++rank) words_->tell(rank, PairWord::stop);
  }

  void listen(bool may_change) {
    Replica& replica = *listening_;
    while (const auto heard = words_->next()) meet(*heard);
    offer_->look(replica, may_change, step_);
    answers_->look(replica, step_);
    if (may_change) answers_->pay(replica, step_);
    if (asked_for_model_) give_model(replica);
  }

  void meet(const PairWords::Heard& heard) {
    switch (heard.word) {
      case PairWord::offer: return answers_->expect(heard.from);
      case PairWord::stop: return stop();
      case PairWord::done: done_[heard.from] = true; return;
      case PairWord::ask_model: asked_for_model_ = true; return;
      case PairWord::over: asked_for_model_ = over_ = true; return;
    }
  }

  // Who has no answer yet offers nothing new, and takes its next step.
  void offer(Replica& replica, std::uint64_t seed) {
    std::erase_if(even_, [&](int rank) { return words_->lost(rank); });
    if (offer_->under_way() || even_.empty()) return;
    const Random random = Random(seed, 0x9a125).sub(static_cast<std::uint64_t>(step_));
    offer_->begin(replica, even_[random.below(static_cast<std::uint64_t>(world_->rank()), even_.size())], step_);
  }

  void give_model(Replica& replica) {
    if (!words_->reaches(0, [&] {
          if (!giving_.done()) return;
          if (!given_) given_ = comm::message_memory(*world_, replica.weights().size());
          answers_->copy_model(replica, given_->mine());
          giving_ = world_->start_send(0, PairWords::model_tag, std::as_bytes(given_->mine()));
          asked_for_model_ = false;
        }))
      asked_for_model_ = false;
  }

  // Leaves the mean of all models in the replica of the first rank.
  void judge(Replica& replica, PairWord ask) {
    if (own_.is_aside()) own_.take_back(replica);
    listen(true);
    own_.set_aside(replica);
    const double begin = world_->now();
    const std::span<float> sum = replica.weights();
    for (int rank = 1; rank < world_->size(); ++rank) words_->tell(rank, ask);
    if (world_->size() > 1 && !given_) given_ = comm::message_memory(*world_, sum.size());
    float models = 1;
    for (int rank = 1; rank < world_->size(); ++rank) {
      const bool told = words_->reaches(rank, [&] {
        comm::Ticket model = world_->start_receive(rank, PairWords::model_tag, std::as_writable_bytes(given_->mine()));
        comm::StallWatch(*world_, limits_, asking_).wait(model, [&] { return std::vector{rank}; });
      });
      if (!told) continue;
      ++models;
      const std::span<const float> theirs = given_->mine();
      combine(replica, 12, [&](std::size_t i) { sum[i] += theirs[i]; });
    }
    if (models > 1) combine(replica, 8, [&](std::size_t i) { sum[i] /= models; });
    waited_seconds_ += world_->now() - begin;
  }

  template <class Work>
  void combine(Replica& replica, double bytes_each, const Work& work) {
    const std::size_t numbers = replica.weights().size();
    replica.timed(averaging_, step_, bytes_each * static_cast<double>(numbers), [&] {
      in_parts(numbers, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) work(i);
      });
    });
  }

  // An offer may take as long as the other's evaluation.
  void finish(Replica& replica) {
    own_.take_back(replica);
    const auto listen_until = [&](auto ready) {
      for (listen(true); !ready(); listen(true)) words_->pause();
    };
    listen_until([&] { return !offer_->under_way(); });
    if (world_->rank() > 0) {
      words_->tell(0, PairWord::done);
      listen_until([&] { return over_ && !asked_for_model_; });
      words_->reaches(0, [&] { giving_.wait(); });
    } else {
      listen_until([&] {
        for (int rank = 1; rank < world_->size(); ++rank)
          if (!done_[rank] && !words_->lost(rank)) return false;
        return answers_->idle();
      });
      judge(replica, PairWord::over);
    }
    finished_ = true;
    words_->close();
  }

  const std::int64_t period_;
  const comm::ReducerOptions limits_;
  const std::string asking_ = "models of other ranks";
  std::unique_ptr<Strategy> inner_;
  std::unique_ptr<comm::Comm> world_, alone_;  // once it is open
  std::optional<ListeningReplica> listening_;  // from begin() on, like the three below
  std::optional<PairWords> words_;
  std::optional<PairOffer> offer_;
  std::optional<PairAnswers> answers_;
  std::vector<int> even_;   // who may be offered a model
  std::vector<bool> done_;  // by rank; the first rank knows
  OwnModel own_;
  std::unique_ptr<comm::GradientMemory> given_;  // a model on its way to the first rank
  comm::Ticket giving_;
  Chore averaging_{Category::copy, "mean of models"};
  std::int64_t step_ = 0;
  double waited_seconds_ = 0;
  bool asked_for_model_ = false, stop_ = false, over_ = false, finished_ = false;
};

}  // namespace

std::unique_ptr<Strategy> gossip_in_pairs(std::int64_t period, const ExchangeOptions& options) {
  return std::make_unique<GossipInPairs>(period, options, make(strategies(), "solo", "strategy"));
}

}  // namespace isobar::parallel
