// simulate: training steps on a platform that is not there. The strategy and schedules are those that really run; time
// is simulated. Two ways to cost messages: every transfer as a flow in SimGrid, one actor for each rank; or each
// distinct round of a schedule once, by the load it puts on SimGrid's links, with all ranks' clocks kept in one vector.
#pragma once

#include <cstdint>
#include <string>

#include "isobar/base/spec.hpp"
#include "isobar/sim/platform.hpp"
#include "isobar/sim/workload.hpp"

namespace isobar::sim {

/// How messages are costed; automatic: flows where they are few enough (up to about a thousand ranks), rounds
/// otherwise. Between teams that go at their own pace messages are always flows; by rounds a team is one actor.
enum class Detail { automatic, flows, rounds };

/// Where ranks read samples from, ahead of the step that needs them.
enum class Input { none, file_system, burst_buffer, node_local };

/// What a simulation leaves out, to see what it costs.
struct Without {
  bool noise = false, input = false;
  bool contention = false;  ///< messages meet on no link but the node's own
  bool latency = false;     ///< and messages cost their ranks nothing
  bool bandwidth = false;   ///< bytes travel in no time, and are added in none
};

struct Scenario {
  Platform platform{};
  Workload workload{};  ///< its times are those of a rank of this platform
  /// Of a model that is cut over several ranks: what its other parts compute, in the order of the parts.
  std::vector<Workload> further_parts{};
  Spec strategy = "sync";
  int ranks = 1;
  int ranks_per_node = 0;  ///< 0: as the platform says
  Input input = Input::none;
  int steps = 24;  ///< that count; the first two do not
  std::uint64_t seed = 1;
  Detail detail = Detail::automatic;
  Without without{};

  int on_node() const { return ranks_per_node > 0 ? ranks_per_node : platform.node.ranks; }
  int nodes() const { return (ranks + on_node() - 1) / on_node(); }
  /// The ranks of a replica.
  int ways() const { return 1 + static_cast<int>(further_parts.size()); }
  const Workload& part(int p) const { return p == 0 ? workload : further_parts[p - 1]; }
  /// Replaces the workload of every part by what is made of it.
  template <class Make>
  void change_parts(Make make) {
    workload = make(workload);
    for (Workload& each : further_parts) each = make(each);
  }
};

/// How many replicas of the model train; a number of ranks that cannot be is a UsageError.
int replicas(const Scenario& scenario);

/// Seconds of a step beyond computing, by what would have to be better. They add up to step - compute.
struct Losses {
  double stragglers = 0, input = 0, contention = 0, latency = 0, bandwidth = 0;
};

/// Means over the steps and the ranks that train.
struct Simulated {
  double step_seconds = 0;     ///< where teams go at their own pace, that of all together
  double compute_seconds = 0;  ///< forward, backward and updates, without noise; broken up, also what a strategy copies
  double exposed_seconds = 0;  ///< of a step, a rank stood still for sums
  double exchange_seconds = 0;               ///< of a step, sums were under way
  double talk_seconds = 0;                   ///< of a step, a rank stood still for messages within its passes
  double input_seconds = 0;                  ///< of a step, a rank waited for samples
  double sent_messages = 0, sent_bytes = 0;  ///< by a rank in a step
  std::string strategy{};                    ///< what the strategy says it does
  std::string summary{};                     ///< what it says came of it, if anything
  std::string detail{};                      ///< "flows", "rounds", or "teams" by rounds with flows between
  double real_seconds = 0;                   ///< what simulating took
  double peak_bytes = 0;
  Losses losses{};  ///< only with simulate_losses()
};

/// Calls visit(name, number) for every loss, and for every other number of a Simulated.
template <class AnyLosses, class Visit>
void each_loss(AnyLosses& l, Visit visit) {
  visit("stragglers", l.stragglers), visit("input", l.input), visit("contention", l.contention);
  visit("latency", l.latency), visit("bandwidth", l.bandwidth);
}
template <class AnySimulated, class Visit>
void each_number(AnySimulated& s, Visit visit) {
  visit("step_seconds", s.step_seconds), visit("compute_seconds", s.compute_seconds);
  visit("exposed_seconds", s.exposed_seconds), visit("exchange_seconds", s.exchange_seconds);
  visit("talk_seconds", s.talk_seconds), visit("input_seconds", s.input_seconds),
      visit("sent_messages", s.sent_messages), visit("sent_bytes", s.sent_bytes);
  visit("real_seconds", s.real_seconds), visit("peak_bytes", s.peak_bytes);
}

/// Runs in a process of its own. Impossible scenarios are a UsageError.
Simulated simulate(const Scenario& scenario);

/// The same, and again with one thing after the other left out: fills `losses`.
Simulated simulate_losses(const Scenario& scenario);

}  // namespace isobar::sim
