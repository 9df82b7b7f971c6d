// A small platform and workload for tests of the simulator.
#pragma once

#include "isobar/sim/simulate.hpp"

namespace isobar::tests {

/// `nodes` around one switch: 1 GB/s, 2 us, adding and updating in no time, no noise.
inline sim::Platform made_platform(int nodes) {
  sim::Platform platform;
  platform.name = "made";
  platform.nodes = nodes;
  platform.node = {.flops_per_second = 1e12,
                   .cores = 8,
                   .ranks = 1,
                   .memory_bytes_per_second = 0,
                   .sum_bytes_per_second = 0,
                   .inside_bytes_per_second = 10e9,
                   .inside_latency = 1e-6,
                   .storage_bytes_per_second = 0};
  platform.network = {.kind = sim::NetworkModel::Kind::crossbar,
                      .link_bytes_per_second = 1e9,
                      .injection_bytes_per_second = 1e9,
                      .latency = 2e-6,
                      .hop_latency = 0,
                      .message_overhead = 0,
                      .efficiency = 1};
  return platform;
}

/// Three layers: 40 ms forward, gradients final after 20, 40 and 60 ms of backward; `numbers` weights in each.
inline sim::Workload made_workload(std::size_t numbers = 250'000) {
  sim::Workload workload;
  workload.name = "made";
  workload.batch = 2;
  workload.flops = 1e11;
  workload.sample_bytes = 1e6;
  workload.forward = {{.seconds = 0.04}};
  for (int p = 0; p < 3; ++p) {
    workload.backward.push_back({0.02, {p}});
    workload.parameters.push_back({"w" + std::to_string(p), numbers, true, 0});
  }
  return workload;
}

inline sim::Scenario made_scenario(int ranks, const Spec& strategy = "sync(algorithm=ring)") {
  sim::Scenario scenario;
  scenario.platform = made_platform(ranks);
  scenario.workload = made_workload();
  scenario.strategy = strategy;
  scenario.ranks = ranks;
  scenario.steps = 4;
  return scenario;
}

}  // namespace isobar::tests
