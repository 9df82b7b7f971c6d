// Workload: what one rank computes in a training step, as data: stretches of computing, the messages that begin or end
// behind them and the gradients that are then final, the parameters and what their updates cost. Recorded from a run or
// derived from a plan; it is all a simulation knows of a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isobar/ops/talk.hpp"

namespace isobar::sim {

/// Computing without interruption, behind which messages begin or end; then some gradients are final.
struct Stretch {
  double seconds = 0;
  std::vector<int> final_parameters{};
  std::optional<ops::Talk> talk{};
};

struct WorkloadParameter {
  std::string name{};
  std::size_t count = 0;      ///< numbers, padding of its layout included
  bool trained = true;        ///< false: running statistics and the like
  double update_seconds = 0;  ///< of its optimizer step
};

struct Workload {
  std::string name{};      ///< "cosmoflow(size=128)"
  std::string origin{};    ///< where its times come from: "runs/small, rank 0, 24 traced steps"
  std::int64_t batch = 1;  ///< samples of a rank in a step
  double flops = 0;        ///< of a rank in a step
  double sample_bytes = 0;
  std::vector<Stretch> forward{}, backward{};
  std::vector<WorkloadParameter> parameters{};  ///< in the order their gradients become final, untrained ones last
  int optimizer_slots = 2;                      ///< numbers an optimizer keeps for each weight: as for Adam

  /// Of a step of one rank alone: forward, backward and updates.
  double compute_seconds() const;
  /// Numbers of all gradients, the memory of untrained parameters included.
  std::size_t gradient_numbers() const;
  /// The same with every time multiplied.
  Workload times(double factor) const;
};

}  // namespace isobar::sim
