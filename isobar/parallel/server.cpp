// server: synchronous parameter servers. All workers take their steps together, each sends its gradients to the
// servers, which add them up in the order of ranks, apply the sum and send new weights to all. What is said between
// steps, loss and bad numbers, is the workers' own, as with sync.
#include <numeric>

#include "isobar/parallel/exchange.hpp"
#include "isobar/parallel/parameter_server.hpp"
#include "isobar/parallel/served_parts.hpp"
#include "isobar/parallel/updates.hpp"

namespace isobar::parallel {
namespace {

class Server final : public Strategy {
 public:
  explicit Server(const ServedOptions& options)
      : Strategy({.recovers = false,
                  .servers = options.servers,
                  .by_layer = options.by_layer,
                  .warn_seconds = options.limits.warn_seconds,
                  .stall_seconds = options.limits.stall_seconds}),
        serving_(options) {
    exchanging_.reducer = options.limits;
  }

  void expect_layers(std::span<const std::string> layers) override {
    serving_.set_layers({layers.begin(), layers.end()});
    set_servers(serving_.servers());
  }
  Roles roles(int ranks) const override {
    const int workers = serving_.trainers("server", ranks);
    Roles roles;
    for (int rank = 0; rank < ranks; ++rank) {
      roles.role.push_back(rank < workers ? Roles::Role::trains : Roles::Role::serves);
      roles.team.push_back(rank < workers ? 0 : -1);
    }
    return roles;
  }
  StepNeeds needs(const PlannedRank& rank) const override {
    if (rank.role == Roles::Role::serves)
      return serving_.needs_of_server(rank, *apply_together(false), rank.circle.size - serving_.servers(), true);
    StepNeeds needs = serving_.needs_of_worker(rank, true);
    needs.traffic += exchanging_.needs_of_numbers(rank);
    return needs;
  }

  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    workers_.resize(serving_.trainers("server", world.size()));
    std::iota(workers_.begin(), workers_.end(), 0);
    world_ = duplicate(world);
    if (world.rank() >= std::ssize(workers_)) return {};
    updates_ = Updates(care);
    finite_ = care.finite;
    team_ = world.among(workers_);
    link_.emplace(*world_, serving_.servers(), static_cast<int>(workers_.size()), serving_.limits());
    exchange_.emplace(exchanging_, care, *team_, gradients);
    return exchange_->gradients();
  }
  void begin(Replica& replica, std::int64_t steps) override {
    link_->begin(replica, serving_.dealt(replica, true), steps);
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    StepExchange now = exchange_->begin(replica, feeds, step.index);
    const auto buckets = exchange_->buckets(replica).all();
    now.compute([&] { return !finite_ || updates_.finite(replica, buckets, step.index) ? std::size_t{0} : 1; });
    const ForwardSummary summary = now.summary();
    updates_.expect_finite(summary);
    for (int p = 0; p < replica.count(); ++p)
      if (replica[p].trained) link_->put(replica, p, replica[p].gradient);
    link_->exchange(replica, step, 0);
    if (finite_ && link_->spoilt() >= 0) {
      const std::string part = fmt::format("the gradient of '{}'", replica[link_->spoilt()].name);
      throw NotFinite(part + ": the sum over all ranks is not finite", part, link_->spoilt(), 0);
    }
    link_->take(replica);
    return summary.loss;
  }

  void settle(Replica& replica, Settle until) override {
    if (until == Settle::sums) return;
    exchange_->settle(replica);
    if (until == Settle::updates) link_->finish(replica);
    else if (link_->is_first()) link_->fetch(replica);
  }
  bool stops(bool mine) override { return link_->stopping(mine); }
  // Running statistics stay each rank's own: a checkpoint holds them.
  void end(Replica& replica) override { link_->finish(replica); }
  void serve(const ServerSetting& setting) override {
    const std::unique_ptr<ServerRule> rule = apply_together(false);
    ServedModel::Crew crew = serving_crew(*world_, serving_.servers(), workers_);
    ParameterServer(crew, setting, *rule).serve();
  }

  exec::StateBlocks state(Replica&) override { return exchange_->state(); }
  comm::ExchangeCost cost() const override {
    if (!link_) return {};
    comm::ExchangeCost cost = exchange_->cost();
    return cost += link_->cost();
  }
  std::string describe() const override {
    return fmt::format("server: {} worker{}, {}", workers_.size(), workers_.size() == 1 ? "" : "s",
                       serving_.describe());
  }
  std::string summary() const override { return link_ ? link_->counts().strain(workers_) : std::string(); }

 private:
  ServedParts serving_;
  ExchangeOptions exchanging_;  // of loss and running statistics
  std::vector<int> workers_;
  std::unique_ptr<comm::Comm> world_, team_;  // once it is open
  std::optional<ServerLink> link_;            // on ranks that train, and
  std::optional<Exchange> exchange_;
  Updates updates_;
  bool finite_ = true;
};

}  // namespace

extern const Row<Strategy> server;
const Row<Strategy> server{
    "server", "every step, parameter servers apply the mean gradient of all workers",
    [](Args& args) -> std::unique_ptr<Strategy> { return std::make_unique<Server>(read_served_options(args)); }};

}  // namespace isobar::parallel
