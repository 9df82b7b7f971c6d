// One code, two clocks: the messages of a strategy over ranks that are threads are those of the same in simulation: the
// same sums, and in each the same bytes between the same ranks in the same order; and of those with servers the same
// questions and answers.
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "isobar/comm/flight.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/sim/flows.hpp"
#include "isobar/sim/in_child.hpp"

#include "tests/comm/forwarding_comm.hpp"
#include "tests/expect_error.hpp"
#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

// By sum, sender and receiver: bytes of the messages in order. Messages of no sum are under -1 less their tag.
using Messages = std::map<std::tuple<std::int64_t, int, int>, std::vector<std::size_t>>;

struct Log {
  std::mutex mutex{};
  Messages messages{};
  void add(std::int64_t sum, int from, int to, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    messages[{sum, from, to}].push_back(bytes);
  }
};

// Hands on, and writes down what is sent with the tags of sums, also in groups within this one.
class LoggedComm final : public tests::ForwardingComm {
 public:
  LoggedComm(comm::Comm& to, Log& log) : ForwardingComm(to), log_(log) {}
  LoggedComm(std::unique_ptr<comm::Comm> own, Log& log) : ForwardingComm(*own), log_(log), own_(std::move(own)) {}

  std::unique_ptr<comm::Comm> among(std::span<const int> ranks) override {
    return std::make_unique<LoggedComm>(ForwardingComm::among(ranks), log_);
  }

 private:
  comm::Ticket begin_send(int to, int tag, std::span<const std::byte> bytes) override {
    if (const int sum = tag - comm::sum_tag(0); sum >= 0) log_.add(sum, rank(), to, bytes.size());
    if (tag < comm::first_reserved_tag) log_.add(-1 - tag, rank(), to, bytes.size());
    return ForwardingComm::begin_send(to, tag, bytes);
  }

  Log& log_;
  std::unique_ptr<comm::Comm> own_;
};

class NoTime final : public Timeline {
 public:
  void begin_step(std::int64_t) override {}
  void compute(double) override {}
  double now() const override { return 0; }
};

void train(const Scenario& scenario, comm::Comm& comm, Timeline& timeline) {
  const auto strategy = make(parallel::strategies(), scenario.strategy, "strategy");
  std::span<float> memory =
      strategy->open(comm, scenario.workload.gradient_numbers(), {.whole = false, .finite = false});
  if (comm.rank() >= scenario.ranks - strategy->traits().servers)
    return serve(*strategy, scenario.workload, 0, timeline);
  const auto own = comm::message_memory(comm, scenario.workload.gradient_numbers());
  if (memory.empty()) memory = own->mine();
  std::ranges::fill(memory, 1.0f);
  ReplayedReplica replica(scenario.workload, memory, 0, timeline);
  take_steps(*strategy, replica, timeline, 1, 2, [](int) {});
}

Messages over_threads(const Scenario& scenario) {
  Log log;
  comm::run_ranks(scenario.ranks, [&](comm::Comm& comm) {
    LoggedComm logged(comm, log);
    NoTime timeline;
    train(scenario, logged, timeline);
  });
  return log.messages;
}

// The same, whatever the sum: those that are gathered are numbered by themselves.
Messages of_all_sums(const Messages& messages) {
  Messages all;
  for (const auto& [key, list] : messages) {
    auto& bytes = all[{0, std::get<1>(key), std::get<2>(key)}];
    bytes.insert(bytes.end(), list.begin(), list.end());
    std::ranges::sort(bytes);
  }
  return all;
}

std::string text_of(const Messages& messages) {
  std::string text;
  for (const auto& [key, list] : messages) {
    text += fmt::format("{} {}>{}:", std::get<0>(key), std::get<1>(key), std::get<2>(key));
    for (const std::size_t bytes : list) text += fmt::format(" {}", bytes);
    text += "\n";
  }
  return text;
}

std::string in_simulation(const Scenario& scenario, bool sum_by_sum = true) {
  return in_child([&] {
    const RankNodes placement{scenario.ranks, 1};
    const Topology topology(scenario.platform, scenario.ranks);
    SumCosts costs(topology, scenario.platform, placement);
    Log log;
    run_flows(topology, scenario.platform, placement, Noise({}, 1), costs,
              {.sent =
                   [&](const FlowMessage& message) {
                     const std::int64_t key = message.sum >= 0 ? message.sum : -1 - message.tag;
                     log.add(key, message.from, message.to, message.bytes);
                   }},
              [&](const FlowRank& rank) { train(scenario, rank.comm, rank.timeline); });
    return text_of(sum_by_sum ? log.messages : of_all_sums(log.messages));
  });
}

TEST(SameMessages, OfSumsThatTravelInPieces) {
  Scenario scenario = tests::made_scenario(2, "sync(algorithm=ring)");
  scenario.workload = tests::made_workload(700'001);  // half of it does not fit one message
  const std::string expected = text_of(over_threads(scenario));
  EXPECT_EQ(in_simulation(scenario), expected);
  EXPECT_HAS(expected, " 524288 524288 ");
}

// In simulation a codec always sends as much as it may, and here too: no fewer numbers than may travel are not zero.
TEST(SameMessages, OfGatheredNumbers) {
  Scenario scenario = tests::made_scenario(3, "sync(codec=topk(share=0.4))");
  scenario.workload = tests::made_workload(700'001);
  const std::string expected = text_of(of_all_sums(over_threads(scenario)));
  EXPECT_EQ(in_simulation(scenario, false), expected);
  EXPECT_HAS(expected, "0 2>1: ");
  EXPECT_HAS(expected, " 4480020");
}

TEST(SameMessages, OfSyncAndLagged) {
  for (const char* strategy : {"sync(algorithm=ring, bucket_mb=0.1)", "sync(algorithm=halving_doubling, bucket_mb=0)",
                               "sync(algorithm=tree)", "lagged(k=1, algorithm=ring)"})
    for (const int ranks : {2, 3, 5, 8}) {
      Scenario scenario = tests::made_scenario(ranks, strategy);
      scenario.workload = tests::made_workload(20'011);
      scenario.workload.parameters.push_back({"mean", 31, false, 0});
      const std::string expected = text_of(over_threads(scenario));
      EXPECT_EQ(in_simulation(scenario), expected) << strategy << " on " << ranks;
      EXPECT_GT(expected.size(), 100u);
    }
}

TEST(SameMessages, WhateverServersDoWithThem) {
  for (const char* strategy :
       {"stale(bound=1, servers=2)", "easgd(centre=server, servers=2, period=2)", "async(period=2, servers=2)"}) {
    Scenario scenario = tests::made_scenario(6, strategy);
    scenario.workload = tests::made_workload(20'011);
    scenario.workload.parameters.push_back({"mean", 31, false, 0});
    const std::string expected = text_of(over_threads(scenario));
    EXPECT_EQ(in_simulation(scenario), expected) << strategy;
    EXPECT_HAS(expected, "-2 4>0:");  // an answer
  }
}

// Each worker asks and each server answers in an order of its own; which worker comes first is free.
TEST(SameMessages, OfWorkersAndServers) {
  for (const int servers : {1, 2, 3})
    for (const int workers : {1, 2, 5}) {
      Scenario scenario = tests::made_scenario(workers + servers, fmt::format("async(servers={})", servers));
      scenario.workload = tests::made_workload(20'011);
      scenario.workload.parameters.push_back({"mean", 31, false, 0});
      const std::string expected = text_of(over_threads(scenario));
      EXPECT_EQ(in_simulation(scenario), expected) << workers << " workers, " << servers << " servers";
      EXPECT_HAS(expected, fmt::format("-2 {}>0:", workers));  // an answer
      EXPECT_HAS(expected, fmt::format("-1 0>{}:", workers));  // a question
    }
}

}  // namespace
}  // namespace isobar::sim
