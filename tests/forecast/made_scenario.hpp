// What the tests of forecasts share: a small scenario whose numbers can be checked by hand, and a formula in place of a
// simulation. The formula does not predict what the simulator gives; it only depends on the same inputs.
#pragma once

#include <cmath>

#include "isobar/sim/simulate.hpp"

namespace isobar::forecast {

/// Forward and backward take 90 ms, updates 10 ms; two trained parameters and running statistics; 1 GF.
inline sim::Workload made_workload() {
  sim::Workload w{.name = "made", .origin = "by hand", .batch = 4, .flops = 1e9, .sample_bytes = 1e6};
  w.forward = {{0.030, {}}};
  w.backward = {{0.040, {0}}, {0.020, {1}}};
  w.parameters = {{"b.w", 1'000'000, true, 0.004}, {"a.w", 250'000, true, 0.006}, {"a.mean", 16, false, 0}};
  return w;
}

inline sim::Scenario made_scenario() {
  sim::Scenario s;
  s.platform.name = "made";
  s.platform.nodes = 1024;
  s.platform.node = {.flops_per_second = 1e12, .cores = 4, .ranks = 2, .memory_bytes_per_second = 1e10};
  s.platform.node.inside_bytes_per_second = 1e10;
  s.platform.node.inside_latency = 1e-6;
  s.platform.network.link_bytes_per_second = 1e9;
  s.platform.network.injection_bytes_per_second = 1e9;
  s.platform.network.latency = 1e-4;
  s.platform.file_system = {1e9, 1e8};
  s.platform.failures = {.node_hours = 10000, .restart_seconds = 60};
  s.workload = made_workload();
  return s;
}

/// Computing, then gradients over one link, then a latency for every doubling of ranks; a lag halves the exchange;
/// samples are read meanwhile.
inline sim::Simulated formula(const sim::Scenario& s, bool losses = false) {
  sim::Simulated out;
  out.compute_seconds = s.workload.compute_seconds();
  const double bytes = static_cast<double>(s.workload.gradient_numbers() * sizeof(float));
  const double travel =
      s.ranks > 1 ? 2 * bytes * (s.ranks - 1) / s.ranks / s.platform.network.link_bytes_per_second : 0;
  const double late = std::log2(s.ranks) * s.platform.network.latency;
  out.exposed_seconds = (travel + late) * (s.strategy.name() == "lagged" ? 0.5 : 1);
  if (s.input == sim::Input::file_system)
    out.input_seconds = std::max(0.0, s.workload.sample_bytes * static_cast<double>(s.workload.batch) * s.ranks /
                                              s.platform.file_system.bytes_per_second -
                                          out.compute_seconds);
  out.exchange_seconds = travel + late;
  out.step_seconds = out.compute_seconds + out.exposed_seconds + out.input_seconds;
  out.strategy = s.strategy.str();
  out.detail = s.ranks > 1000 ? "rounds" : "flows";
  out.real_seconds = 1e-3 * s.ranks;
  out.peak_bytes = 1e6;
  if (losses) out.losses = {.input = out.input_seconds, .latency = late, .bandwidth = out.exposed_seconds - late};
  return out;
}

}  // namespace isobar::forecast
