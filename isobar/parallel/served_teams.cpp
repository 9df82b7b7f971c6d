#include "isobar/parallel/served_teams.hpp"

#include <algorithm>
#include <numeric>

#include "isobar/comm/local_comm.hpp"
#include "isobar/parallel/parameter_server.hpp"
#include "isobar/parallel/served_parts.hpp"

namespace isobar::parallel {
namespace {

/// Of servers that keep weights alone.
class WithoutSlots final : public optim::Optimizer {
 public:
  WithoutSlots() : Optimizer(0.0) {}
  int slots() const override { return 0; }
  void update(std::span<float>, std::span<const float>, std::span<const std::span<float>>,
              const optim::Step&) const override {
    expects(false, "a rule that changes weights by itself");
  }
};

class ServedTeams final : public Strategy {
 public:
  ServedTeams(std::string name, int of, std::unique_ptr<Strategy> inner, Between between, const ServedOptions& options)
      : Strategy({.recovers = false,
                  .gradients_in_arena = inner->traits().gradients_in_arena,
                  .servers = options.servers,
                  .by_layer = options.by_layer,
                  .warn_seconds = options.limits.warn_seconds,
                  .stall_seconds = options.limits.stall_seconds}),
        name_(std::move(name)),
        of_(of),
        inner_(std::move(inner)),
        between_(std::move(between)),
        serving_(options) {}

  void expect_layers(std::span<const std::string> layers) override {
    serving_.set_layers({layers.begin(), layers.end()});
    set_servers(serving_.servers());
  }

  Roles roles(int ranks) const override {
    const int training = serving_.trainers(name_, ranks, of_);
    Roles roles;
    roles.pace = between_.pace;
    for (int rank = 0; rank < ranks; ++rank) {
      roles.role.push_back(rank < training ? Roles::Role::trains : Roles::Role::serves);
      roles.team.push_back(rank < training ? rank / of_ : -1);
    }
    return roles;
  }

  StepNeeds needs(const PlannedRank& rank) const override {
    if (rank.role == Roles::Role::serves) {
      const int teams = (rank.circle.size - serving_.servers()) / of_;
      return serving_.needs_of_server(rank, *between_.rule(), teams, false);
    }
    StepNeeds needs = inner_->needs(rank);
    const StepNeeds talking = serving_.needs_of_worker(rank, false);
    if (rank.circle.rank == 0) needs.traffic += talking.traffic, needs.bytes += talking.bytes;
    needs.traffic += traffic_within(rank);
    return needs;
  }

  std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) override {
    const int training = serving_.trainers(name_, world.size(), of_);
    teams_ = training / of_;
    world_ = duplicate(world);
    for (int team = 0; team < teams_; ++team) roots_.push_back(team * of_);
    if (world.rank() >= training) return {};
    std::vector<int> mine(of_);
    std::iota(mine.begin(), mine.end(), world.rank() / of_ * of_);
    team_ = of_ == 1 ? comm::alone() : world.among(mine);
    sharing_ = duplicate(*team_);
    if (team_->rank() == 0) link_.emplace(*world_, serving_.servers(), teams_, serving_.limits());
    line_.emplace(*sharing_, link_ ? &*link_ : nullptr, world.rank() < of_);
    outer_ = between_.pushes(*line_);
    return inner_->open(*team_, gradients, care);
  }

  void begin(Replica& replica, std::int64_t steps) override {
    inner_->begin(replica, steps);
    offering_.emplace(replica, *outer_);
    // A run that trained otherwise so far has counted its updates by steps.
    if (link_) link_->begin(replica, serving_.dealt(replica, false), std::max(updates_, steps), between_.keeps_slots);
  }

  double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) override {
    outer_->begin_step(replica);
    const double loss = inner_->step(*offering_, feeds, step);
    outer_->collect(replica, feeds.empty() ? 0 : feeds[0].run.total);
    return loss;
  }

  void settle(Replica& replica, Settle until) override {
    inner_->settle(replica, until);
    if (until == Settle::sums || line_->is_finished()) return;
    if (until == Settle::updates || line_->of_first_team()) outer_->send_rest(replica);
    if (until == Settle::updates) line_->finish(replica);
    else line_->fetch(replica);
    updates_ = line_->updates();
  }
  bool stops(bool mine) override { return line_->stopping(mine); }
  void end(Replica& replica) override { settle(replica, Settle::updates); }

  void serve(const ServerSetting& setting) override {
    const std::unique_ptr<ServerRule> rule = between_.rule();
    ServedModel::Crew crew = serving_crew(*world_, serving_.servers(), roots_);
    if (between_.keeps_slots) return ParameterServer(crew, setting, *rule).serve();
    const WithoutSlots none;
    const ServerSetting plain{none, setting.stop, setting.trace, setting.begun, setting.traced, setting.pretends};
    ParameterServer(crew, plain, *rule).serve();
  }

  exec::StateBlocks state(Replica& replica) override {
    exec::StateBlocks blocks = inner_->state(replica);
    for (exec::StateBlock& block : outer_->state(replica)) blocks.push_back(std::move(block));
    blocks.push_back({.name = "updates by servers", .content = std::span(&updates_, 1), .may_drop = true});
    return blocks;
  }
  comm::ExchangeCost cost() const override {
    if (!line_) return {};
    comm::ExchangeCost cost = inner_->cost();
    return cost += line_->cost();
  }
  std::string describe() const override {
    const char* const plural = teams_ == 1 ? "" : "s";
    if (of_ == 1) return fmt::format("{}: {} worker{}, {}{}", name_, teams_, plural, serving_.describe(), advice());
    // A rank that serves has not opened what is within a team.
    const std::string within = team_ ? fmt::format(" ({})", inner_->describe()) : std::string();
    return fmt::format("{}: {} team{} of {}{}, between them {}, {}{}", name_, teams_, plural, of_, within,
                       between_.name, serving_.describe(), advice());
  }
  std::string summary() const override { return link_ ? link_->counts().summary(roots_) : std::string(); }

 private:
  // Where gradients of others come between.
  std::string advice() const {
    constexpr double wanted = 0.9;
    if (teams_ == 1 || between_.pace != comm::Pace::free || !between_.keeps_slots) return {};
    const double left = advised_momentum(wanted, teams_);
    return fmt::format("; their staleness acts like a momentum of {:.2f}: for {} in all give the optimizer {}",
                       1 - 1.0 / teams_, wanted, left > 0.005 ? fmt::format("{:.2f}", left) : std::string("none"));
  }

  // New weights go through a team by a binomial tree.
  comm::Traffic traffic_within(const PlannedRank& rank) const {
    comm::Traffic traffic;
    std::int64_t bytes = 0;
    for (const exec::GradientPlace& place : rank.places)
      if (place.trained) bytes += static_cast<std::int64_t>(place.count * sizeof(float));
    const std::int64_t told = sizeof(std::int64_t) * 2;
    if (of_ == 1) return traffic;
    int distance = 1;
    while (distance <= rank.circle.rank) distance *= 2;
    for (; rank.circle.rank + distance < rank.circle.size; distance *= 2) traffic += {2, bytes + told};
    return traffic;
  }

  const std::string name_;
  const int of_;
  std::unique_ptr<Strategy> inner_;
  const Between between_;
  ServedParts serving_;
  int teams_ = 0;
  std::vector<int> roots_;                              // the first rank of every team
  std::unique_ptr<comm::Comm> world_, team_, sharing_;  // once it is open
  std::optional<ServerLink> link_;                      // on the first rank of a team
  std::optional<TeamLine> line_;                        // on ranks that train
  std::unique_ptr<Outer> outer_;
  std::optional<OfferingReplica> offering_;
  std::int64_t updates_ = 0;
};

}  // namespace

double advised_momentum(double wanted, int teams) { return 1 - teams * (1 - wanted); }

std::unique_ptr<Strategy> serve_teams(std::string name, int of, std::unique_ptr<Strategy> inner, Between between,
                                      const ServedOptions& options) {
  return std::make_unique<ServedTeams>(std::move(name), of, std::move(inner), std::move(between), options);
}

}  // namespace isobar::parallel
