// A small program whose ranks sum numbers for a number of rounds, and continue without those that die:
// elastic_test.cpp starts it under a supervising launcher. Arguments: the rank that dies (-1: none), the round, and the
// microseconds into the round at which it kills itself; more such triples may follow. Or "abandon": a large
// message is under way when a rank dies; "fails" and "gives_up": a rank does so; "alone": a rank dies that only rank 0
// misses.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/inbox.hpp"
#include "isobar/comm/reducer.hpp"
#include "isobar/comm_mpi/world.hpp"
#include "isobar/control/shield.hpp"

#include "tests/comm/summing.hpp"

namespace {

using namespace isobar;
using namespace isobar::comm;

constexpr int rounds = 30;

struct Kill {
  int rank, round, microseconds;
};

void die_in(int microseconds) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    kill(getpid(), SIGKILL);
  }).detach();
}

float given(int member, int round, std::size_t i) {
  return static_cast<float>((member + 1) * (1 + (round + static_cast<int>(i)) % 7));
}

// One round: a large and a small sum under way at the same time, and both must be right.
void sum(Comm& group, Reducer& reducer, int round) {
  const std::span<float> all = reducer.memory();
  const std::size_t small = 100, large = all.size() - small;
  const int self = group.members()[static_cast<std::size_t>(group.rank())];
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = given(self, round, i);
  const Reducer::Sum first = reducer.start({{0, large}, 0, "large"}),
                     second = reducer.start({{large, small}, 1, "small"});
  reducer.wait(second);
  reducer.wait(first);
  for (std::size_t i = 0; i < all.size(); ++i) {
    float wanted = 0;
    for (const int member : group.members()) wanted += given(member, round, i);
    if (all[i] != wanted) fail("round {}: {} where {} was expected at place {}", round, all[i], wanted, i);
  }
}

int any(int available) { return available; }

void sum_until_done(Crew& crew, int rank, const std::vector<Kill>& kills, const std::string& algorithm) {
  int done = 0;
  while (const auto group = crew.muster(any)) {
    try {
      const auto all = all_gather_number(*group, done);
      done = static_cast<int>(*std::ranges::max_element(all));
      const auto reducer = isobar::tests::summing(*group, 40'000, {.algorithm = algorithm});
      for (; done < rounds; ++done) {
        group->note(fmt::format("round {}", done));
        for (const Kill& each : kills)
          if (each.rank == rank && each.round <= done) die_in(each.microseconds);
        // Were it still alive then, it could end before it dies.
        if (done + 1 == rounds && std::ranges::count(kills, rank, &Kill::rank) > 0) pause();
        sum(*group, *reducer, done);
      }
      barrier(*group);
      std::printf("rank %d of %d ended in epoch %u\n", rank, group->size(), group->epoch());
      return;
    } catch (const MembersChanged&) {
    }
  }
}

// The memory of an abandoned receive belongs to the caller again: whatever arrives later, it is not overwritten.
void abandon(Crew& crew, int rank) {
  constexpr std::size_t count = std::size_t{32} << 20;
  Bytes mine(count, std::byte{1});
  auto group = crew.muster(any);
  try {
    barrier(*group);
    if (rank == 3) kill(getpid(), SIGKILL);
    for (Ticket ticket;;) {
      if (rank == 0) group->check();
      else if (ticket.wait_for(1e-5))
        ticket = rank == 1 ? group->start_receive(2, 0, mine) : group->start_send(1, 0, mine);
    }
  } catch (const MembersChanged&) {
  }
  std::fill(mine.begin(), mine.end(), std::byte{9});
  group = crew.muster(any);
  const auto reducer = isobar::tests::summing(*group, 400'000, {.algorithm = "ring"});
  for (int round = 0; round < 5; ++round) sum(*group, *reducer, round);
  for (const std::byte each : mine)
    if (each != std::byte{9}) fail("memory was written after it had been given up");
  barrier(*group);
  std::printf("rank %d of %d ended in epoch %u\n", rank, group->size(), group->epoch());
}

// Rank 0 takes messages from whoever comes first. The last rank dies on the way, with a long one half sent.
void miss_one(Crew& crew, int rank) {
  constexpr int messages = 300;
  const auto group = crew.muster(any);
  const int last = group->size() - 1;
  if (rank == last) group->view()->set_fate(Fate::peer);
  if (rank > 0) {
    const Bytes mine(100'000, std::byte{1});
    for (int i = 0; i < messages; ++i) {
      Ticket sending = group->start_send(0, 0, mine);
      if (rank == last && i == messages / 2) kill(getpid(), SIGKILL);
      sending.wait();
      group->receive(0, 1, {});
    }
  } else {
    std::vector<Bytes> theirs(group->size(), Bytes(100'000));
    std::vector<Ticket> tickets(group->size());
    std::vector<int> taken(group->size());
    const auto inbox = make_inbox(*group);
    const auto listen = [&](int from) {
      tickets[from] = group->start_receive(from, 0, theirs[from]);
      inbox->add(from, tickets[from]);
    };
    for (int from = 1; from <= last; ++from) listen(from);
    for (int open = last; open > 0;) {
      const int from = inbox->next();
      try {
        tickets[from].wait();
        group->send(from, 1, {});
        if (++taken[from] < messages) listen(from);
        else --open;
      } catch (const PeerDied&) {
        --open;
      }
    }
    for (int from = 1; from < last; ++from)
      if (taken[from] != messages) fail("{} messages of rank {}", taken[from], from);
    if (taken[last] < messages / 2 || taken[last] > messages / 2 + 1) fail("{} messages of the dead", taken[last]);
  }
  std::printf("rank %d of %d ended in epoch %u\n", rank, last, group->epoch());
}

void end_all(Crew& crew, int rank, const std::string& how) {
  const auto group = crew.muster(any);
  if (!group) return;
  barrier(*group);
  if (rank == 1 && how == "fails") fail("the disk is full");
  if (rank == 1) crew.give_up("weights are late");
  try {
    for (;;) barrier(*group);
  } catch (const MembersChanged&) {
    crew.muster(any);  // which ends with the launcher's answer
  }
}

}  // namespace

int main(int argc, char** argv) {
  control::raise_shield(comm_mpi::launched().rank);
  const auto world = comm_mpi::join();
  const int rank = world->comm().rank();
  int code = 1;
  try {
    guarded(world->comm(), [&] {
      const std::string what = argv[1];
      if (what == "abandon") return abandon(world->crew(), rank);
      if (what == "alone") return miss_one(world->crew(), rank);
      if (what == "fails" || what == "gives_up") return end_all(world->crew(), rank, what);
      std::vector<Kill> kills;
      for (int i = 2; i + 2 < argc; i += 3)
        kills.push_back({std::atoi(argv[i]), std::atoi(argv[i + 1]), std::atoi(argv[i + 2])});
      sum_until_done(world->crew(), rank, kills, argv[1]);
    });
    code = 0;
  } catch (const std::exception& error) {
    if (const auto words = comm_mpi::last_words(*world, error)) std::fprintf(stderr, "isobar: %s\n", words->c_str());
  }
  world->leave(code);
}
