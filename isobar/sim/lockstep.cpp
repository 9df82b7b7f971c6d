#include "isobar/sim/lockstep.hpp"

#include <algorithm>

namespace isobar::sim {

Lockstep::Lockstep(const RankNodes& placement, const Noise& noise, double read_seconds, double core_seconds_per_byte,
                   SumCosts& costs, const Without& without)
    : placement_(placement),
      noise_(noise),
      costs_(costs),
      without_(without),
      clocks_(placement.ranks),
      factors_(clocks_.size(), 1.0),
      loaders_(clocks_.size(), ReadAhead(read_seconds)),
      cores_(clocks_.size()),
      core_seconds_per_byte_(without.bandwidth ? 0 : core_seconds_per_byte),
      links_([&costs](int round) { return costs.shares(round); }) {}

void Lockstep::begin_step(std::int64_t step) {
  double waited = 0;
  for (std::size_t r = 0; r < clocks_.size(); ++r) {
    const double ready = loaders_[r].ready(clocks_[r]);
    waited += ready - clocks_[r];
    clocks_[r] = ready + noise_.delay(step, r);
    factors_[r] = noise_.factor(step, r);
  }
  waited_for_input_ += waited / clocks_.size();
}

void Lockstep::compute(double seconds) {
  for (std::size_t r = 0; r < clocks_.size(); ++r) clocks_[r] += cores_[r].compute(seconds * factors_[r]);
}

double Lockstep::now() const { return *std::ranges::max_element(clocks_); }

int Lockstep::begin_sum(const Spec& asked, std::size_t count, const codec::Codec& codec, comm::ExchangeCost& cost) {
  const Spec& algorithm = costs_.chosen(asked, count);
  const SumCost sum = costs_.cost(algorithm, count, codec, without_);
  cost.traffic.messages += static_cast<std::int64_t>(sum.messages + 0.5);
  cost.traffic.bytes += static_cast<std::int64_t>(sum.bytes + 0.5);
  ++cost.sums;
  for (SharedCore& core : cores_) core.owe(sum.bytes * core_seconds_per_byte_);
  return links_.begin(now(), costs_.phases(algorithm, count, codec, without_));
}

double Lockstep::wait_until(double end) {
  double waited = 0;
  for (std::size_t r = 0; r < clocks_.size(); ++r) {
    const double idle = std::max(0.0, end - clocks_[r]);
    cores_[r].wait(idle);
    clocks_[r] += idle;
    waited += idle;
  }
  return waited / clocks_.size();
}

}  // namespace isobar::sim
