#include "isobar/sim/workload.hpp"

namespace isobar::sim {

double Workload::compute_seconds() const {
  double seconds = 0;
  for (const Stretch& stretch : forward) seconds += stretch.seconds;
  for (const Stretch& stretch : backward) seconds += stretch.seconds;
  for (const WorkloadParameter& parameter : parameters) seconds += parameter.update_seconds;
  return seconds;
}

std::size_t Workload::gradient_numbers() const {
  std::size_t numbers = 0;
  for (const WorkloadParameter& parameter : parameters) numbers += parameter.count;
  return numbers;
}

Workload Workload::times(double factor) const {
  Workload scaled = *this;
  for (Stretch& stretch : scaled.forward) stretch.seconds *= factor;
  for (Stretch& stretch : scaled.backward) stretch.seconds *= factor;
  for (WorkloadParameter& parameter : scaled.parameters) parameter.update_seconds *= factor;
  return scaled;
}

}  // namespace isobar::sim
