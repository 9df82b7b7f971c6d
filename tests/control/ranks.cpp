// A launcher of ranks without MPI, for tests of the supervisor: control_ranks N SCENARIO starts N processes, each with
// its shield, which count steps until what the scenario says happens to them. Nobody counts on before it has happened.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "isobar/control/lifeline.hpp"
#include "isobar/control/shield.hpp"

namespace {

using isobar::control::Lifeline;
using isobar::control::Order;

constexpr int last_step = 100, fatal_step = 20;

// Who dies after the fatal step.
std::vector<int> doomed(const std::string& scenario) {
  if (scenario == "kill" || scenario == "freeze") return {1};
  if (scenario == "kill_lead") return {0};
  if (scenario == "kill_two") return {1, 2};
  return {};
}

// Whether this rank has heard of all that the scenario has in store. What ends the work of all is never over for it:
// it waits until it has to leave.
bool is_over(const std::string& scenario, const Lifeline& line) {
  for (const char* endless : {"signal_launcher", "kill_launcher", "fail"})
    if (scenario == endless) return false;
  if (scenario == "give_up") return isobar::control::launch_number() > 0;
  const std::vector<int> dead = line.dead();
  return std::ranges::all_of(doomed(scenario), [&](int rank) { return std::ranges::count(dead, rank) > 0; });
}

// What happens to a rank after a step; if true, it ends with this code.
bool happens(const std::string& scenario, int rank, int step, Lifeline& line, int& code) {
  if (step != fatal_step) return false;
  if (std::ranges::count(doomed(scenario), rank) > 0) std::raise(scenario == "freeze" ? SIGSTOP : SIGKILL);
  if (scenario == "signal_launcher" && rank == 0) kill(std::atoi(std::getenv("ISOBAR_TEST_LAUNCHER")), SIGTERM);
  if (scenario == "kill_launcher" && rank == 0) kill(std::atoi(std::getenv("ISOBAR_TEST_LAUNCHER")), SIGKILL);
  if (scenario == "give_up" && rank == 2 && isobar::control::launch_number() == 0) line.give_up("it is asked for");
  code = 3;
  return scenario == "fail" && rank == 1 && line.fail("a rank that fails by itself");
}

int work(int rank, const std::string& scenario) {
  if (scenario == "usage") return 2;
  if (scenario == "early" && rank == 1 && isobar::control::launch_number() == 0) std::raise(SIGKILL);
  if (scenario == "always_early" && rank == 1) std::raise(SIGKILL);
  if (scenario == "stranger") return 0;
  Lifeline line(rank);
  std::atomic<bool> stop = false;
  line.on_stop([&] { stop = true; });
  const auto leave = [&](int code) {
    line.goodbye(code);
    return code;
  };
  for (int step = 0;;) {
    const Order order = line.await_order(line.epoch());
    if (line.lost()) return 130;
    if (order.kind != Order::Kind::go) return leave(line.failure() || order.kind == Order::Kind::relaunch ? 1 : 0);
    while (line.epoch() == order.epoch && !stop && !line.failure() && step < last_step) {
      line.note("step " + std::to_string(step + 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      line.progress(++step);
      int code = 0;
      if (happens(scenario, rank, step, line, code)) return leave(code);
      while (step == fatal_step && line.epoch() == order.epoch && !stop && !line.failure() && !is_over(scenario, line))
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (line.failure()) return leave(1);
    if (stop) return leave(130);
    if (step == last_step) return leave(0);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const int ranks = std::atoi(words[1]);
  for (int rank = 0; rank < ranks; ++rank) {
    if (fork() != 0) continue;
    isobar::control::raise_shield(rank);
    _exit(work(rank, words[2]));
  }
  while (wait(nullptr) > 0) {
  }
}
