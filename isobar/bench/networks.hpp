// Level 1: networks. A training step and a forward pass of Isobar and of PyTorch, with peak memory, the bare primitives
// of a step, and a profile that shows where its time goes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/bench/harness.hpp"
#include "isobar/machine/peaks.hpp"

namespace isobar::bench {

/// A network at the size at which it is measured.
struct NetworkCase {
  std::string model;
  std::int64_t batch = 1;
  double speed = 0;  ///< the aim: at least this many times as fast as PyTorch; 0: none
};

/// Every network of the zoo.
std::span<const NetworkCase> network_cases();

/// The aims of a network, if it is one of the cases: speed, memory, and distance to the bare primitives.
Asked asked_of(const Spec& model, std::int64_t batch);

struct NetworkContest {
  Spec model;
  std::int64_t batch = 1;
  Effort effort{};
  int threads = 2;
  std::string self;   ///< our program
  std::string peers;  ///< folder of the peer programs; empty: none
  machine::Peaks peaks{};
};

using Note = std::function<void(const std::string&)>;

/// Two records: training step, forward pass. Reports progress to `note`.
std::vector<Record> measure_network(const NetworkContest& contest, const Note& note);

}  // namespace isobar::bench
