#include "isobar/sim/joint_pass.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::sim {
namespace {

using Pass = std::vector<Stretch> Workload::*;

// Of one part: stretches without an end of their own are put together with the next. The last ends with the pass.
JointPass alone(const Workload& part, Pass pass) {
  JointPass list{{.parts = {{}}}};
  double seconds = 0;
  for (const Stretch& stretch : part.*pass) {
    seconds += stretch.seconds;
    if (!stretch.talk && stretch.final_parameters.empty()) continue;
    list.back().parts[0].push_back({std::exchange(seconds, 0), stretch.talk ? &*stretch.talk : nullptr});
    if (stretch.final_parameters.empty()) continue;
    list.back().final_parameters = stretch.final_parameters;
    list.push_back({.parts = {{}}});
  }
  if (seconds > 0) list.back().parts[0].push_back({seconds});
  return list;
}

bool end_alike(const JointPass& one, const JointPass& other) {
  return std::ranges::equal(one, other, [](const JointStretch& a, const JointStretch& b) {
    return std::ranges::equal(a.final_parameters, b.final_parameters);
  });
}

bool same_parameters(const Workload& a, const Workload& b) {
  return std::ranges::equal(a.parameters, b.parameters, [](const auto& one, const auto& other) {
    return one.count == other.count && one.trained == other.trained;
  });
}

}  // namespace

bool agree_on_gradients(std::span<const Workload* const> parts) {
  const auto alike = [&](const Workload* part, Pass pass) {
    return end_alike(alone(*part, pass), alone(*parts[0], pass));
  };
  return std::ranges::all_of(parts, [&](const Workload* part) {
    return same_parameters(*part, *parts[0]) && alike(part, &Workload::forward) && alike(part, &Workload::backward);
  });
}

JointPass joint_pass(std::span<const Workload* const> parts, Pass pass) {
  JointPass joint = alone(*parts[0], pass);
  for (const Workload* part : parts.subspan(1)) {
    JointPass own = alone(*part, pass);
    expects(end_alike(joint, own), "parts that agree on gradients");
    for (std::size_t i = 0; i < own.size(); ++i) joint[i].parts.push_back(std::move(own[i].parts[0]));
  }
  return joint;
}

}  // namespace isobar::sim
