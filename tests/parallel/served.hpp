// Runs over threads with workers and parameter servers. The tests decide in which order workers take their steps, so
// what must come out is known.
#pragma once

#include <thread>

#include "isobar/comm/local_crew.hpp"

#include "tests/parallel/plain_replica.hpp"
#include "tests/parallel/small_training.hpp"

namespace isobar::parallel::trials {

using Script = std::vector<int>;  // whose gradient arrives next

// Every worker has 3 samples of a step, and its loss is their mean.
inline Training async_training(int workers, const std::string& strategy = "async") {
  Training s;
  s.strategy = strategy;
  s.shares.assign(static_cast<std::size_t>(workers), 3);
  s.batch = 3 * workers;
  s.total = 3;
  return s;
}

inline void serve(comm::Comm& comm, const Training& setup) {
  const auto optimizer = make(optim::optimizers(), setup.optimizer, "optimizer");
  const auto strategy = make(strategies(), setup.strategy, "strategy");
  if (strategy->traits().by_layer) tell_layers(*strategy, network(1, setup));
  strategy->open(comm, 0, {});
  strategy->serve({*optimizer});
}

struct Ended {
  std::map<std::string, std::vector<float>> weights;  // of the first worker, behind the last step of all
  std::vector<std::vector<double>> losses;            // by team
  std::string summary;
};

/// Teams of `of` ranks take their steps in the order of the script.
inline Ended run_script(int teams, int servers, const Training& setup, const Script& script, int of = 1) {
  Ended ended;
  ended.losses.resize(static_cast<std::size_t>(teams));
  std::atomic<std::size_t> turn = 0;
  comm::run_ranks(
      teams * of + servers,
      [&](comm::Comm& comm) {
        if (comm.rank() >= teams * of) return serve(comm, setup);
        const int team = comm.rank() / of;
        const bool first = comm.rank() % of == 0;  // the others of a team wait for it anyway
        Trained trained(comm, setup);
        trained.strategy().begin(trained.replica(), 0);
        std::int64_t taken = 0;
        for (std::size_t i = 0; i < script.size(); ++i) {
          if (script[i] != team) continue;
          for (; first && turn != i; std::this_thread::yield()) comm.check();
          const double loss = trained.step(++taken);
          if (!first) continue;
          ended.losses[static_cast<std::size_t>(team)].push_back(loss);
          ++turn;
        }
        trained.strategy().end(trained.replica());
        if (comm.rank() > 0) return;
        ended.weights = trained.weights();
        ended.summary = trained.strategy().summary();
      },
      teams * of + servers);
  return ended;
}

/// Every rank that trains takes all steps, at the pace that the strategy leaves it; what the first of them ends with.
inline Outcome train_served(int workers, int servers, const Training& setup) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(workers));
  comm::run_ranks(
      workers + servers,
      [&](comm::Comm& comm) {
        if (comm.rank() >= workers) return serve(comm, setup);
        Training mine = setup;
        if (mine.shares.empty()) mine.shares = even_shares(setup.batch, workers * setup.micro);
        Trained trained(comm, mine);
        trained.strategy().begin(trained.replica(), 0);
        Outcome& outcome = outcomes[static_cast<std::size_t>(comm.rank())];
        for (int t = 1; t <= setup.steps; ++t) outcome.losses.push_back(trained.step(t));
        trained.strategy().settle(trained.replica(), Settle::updates);
        trained.strategy().end(trained.replica());
        outcome.weights = trained.weights();
      },
      setup.per_node);
  return outcomes[0];
}

// The loss is half the square of the only weight, which begins at 1.
class Parabola final : public PlainReplica {
 public:
  Parabola() : PlainReplica(std::vector<DeclaredPlainly>{{.numbers = 1}}) { x() = 1; }
  float& x() const { return (*this)[0].weight[0]; }
  double forward(const Feed&) override { return x() * x() / 2; }
  void backward(const Feed&, const std::function<void(int p)>&) override { (*this)[0].gradient[0] = x(); }
  void update(int, std::span<const float> gradient, const optim::Step& step) override {
    x() -= static_cast<float>(step.learning_rate) * gradient[0];
  }
};

/// The weight that is left when workers have taken steps on the parabola in this order.
inline float descend_in_turns(const std::string& name, int workers, const Script& script, double rate) {
  Training s;
  s.strategy = name;
  s.optimizer = "sgd";
  float end = 0;
  std::atomic<std::size_t> turn = 0;
  comm::run_ranks(
      workers + 1,
      [&](comm::Comm& comm) {
        if (comm.rank() == workers) return serve(comm, s);
        Parabola parabola;
        const auto strategy = make(strategies(), name, "strategy");
        strategy->open(comm, parabola.gradients().size(), {});
        strategy->begin(parabola, 0);
        const Feed feed{{{"x", {}}}, {.rows = 1, .total = 1}};
        for (std::size_t i = 0; i < script.size(); ++i) {
          if (script[i] != comm.rank()) continue;
          for (; turn != i; std::this_thread::yield()) comm.check();
          strategy->step(parabola, {&feed, 1}, {.index = 1, .learning_rate = rate});
          ++turn;
        }
        strategy->end(parabola);
        if (comm.rank() == 0) end = parabola.x();
      },
      workers + 1);
  return end;
}

/// Workers one after the other, so many steps in all.
inline Script in_turns(int workers, int steps) {
  Script script;
  for (int i = 0; i < steps; ++i) script.push_back(i % workers);
  return script;
}

}  // namespace isobar::parallel::trials
