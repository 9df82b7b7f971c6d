// JointPass: a pass of all parts of a model that is cut, side by side. Parts agree on when which gradients are final;
// before that each computes and talks in its own way.
#pragma once

#include <span>

#include "isobar/sim/workload.hpp"

namespace isobar::sim {

/// What a part computes, behind which messages begin or end; null: nothing does.
struct PartStretch {
  double seconds = 0;
  const ops::Talk* talk = nullptr;
};

/// All parts, up to gradients that are final, or to the end of the pass.
struct JointStretch {
  std::vector<std::vector<PartStretch>> parts{};
  std::span<const int> final_parameters{};
};

using JointPass = std::vector<JointStretch>;

/// Whether parts have equal parameters, whose gradients are final in the same order.
bool agree_on_gradients(std::span<const Workload* const> parts);

/// The forward or backward passes of parts that agree; these must outlive it.
JointPass joint_pass(std::span<const Workload* const> parts, std::vector<Stretch> Workload::*pass);

}  // namespace isobar::sim
