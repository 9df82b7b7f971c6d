#include "isobar/sim/lockstep.hpp"

#include <algorithm>
#include <cmath>

namespace isobar::sim {

Lockstep::Lockstep(const LockstepRanks& ranks, SumCosts& costs)
    : all_(ranks),
      costs_(costs),
      ranks_of_part_(ranks.parts.size()),
      parts_(ranks.parts, ranks.ranks, ranks.placement.first),
      clocks_(ranks.placement.ranks),
      factors_(clocks_.size(), 1.0),
      loaders_(clocks_.size(), ReadAhead(ranks.read_seconds)),
      cores_(clocks_.size()),
      links_([&costs](int round) { return costs.shares(round); }) {
  for (std::size_t r = 0; r < clocks_.size(); ++r) ranks_of_part_.at(all_.ranks[r].part).push_back(static_cast<int>(r));
}

void Lockstep::begin_step(std::int64_t step) {
  catch_up();
  double waited = 0;
  for (std::size_t r = 0; r < clocks_.size(); ++r) {
    const double ready = loaders_[r].ready(clocks_[r]);
    waited += ready - clocks_[r];
    clocks_[r] = ready + all_.noise.delay(step, all_.placement.first + r);
    factors_[r] = all_.noise.factor(step, all_.placement.first + r);
  }
  waited_for_input_ += waited / clocks_.size();
}

void Lockstep::compute(double seconds) {
  for (int part = 0; part < std::ssize(ranks_of_part_); ++part) compute_part(part, seconds);
}

void Lockstep::compute_parts(std::span<const double> seconds) {
  for (int part = 0; part < std::ssize(ranks_of_part_); ++part) compute_part(part, seconds[part]);
}

void Lockstep::compute_part(int part, double seconds) {
  catch_up();
  for (const int r : ranks_of_part_[part]) clocks_[r] += cores_[r].compute(seconds * factors_[r]);
}

void Lockstep::play_parts(std::span<const std::vector<PartStretch>> parts) {
  expects(parts_.play(parts, *this), "parts that go together");
}

void Lockstep::spend(double seconds) {
  catch_up();
  for (double& clock : clocks_) clock += seconds;
}

double Lockstep::now() const { return std::max(first_now(), *std::ranges::max_element(clocks_)); }

int Lockstep::begin_sum(const Spec& asked, std::size_t count, const codec::Codec& codec, comm::ExchangeCost& cost) {
  const Spec& algorithm = costs_.chosen(asked, count);
  const SumCost sum = costs_.cost(algorithm, count, codec, all_.without);
  cost.traffic.messages += static_cast<std::int64_t>(sum.messages + 0.5);
  cost.traffic.bytes += static_cast<std::int64_t>(sum.bytes + 0.5);
  ++cost.sums;
  for (SharedCore& core : cores_) core.owe(sum.bytes * all_.core_seconds_per_byte);
  return links_.begin(now(), costs_.phases(algorithm, count, codec, all_.without));
}

int Lockstep::begin_gathering(std::size_t bytes, comm::ExchangeCost& cost) {
  const int others = all_.placement.ranks - 1;
  cost.traffic.messages += others;
  cost.traffic.bytes += static_cast<std::int64_t>(others * bytes);
  ++cost.sums;
  for (SharedCore& core : cores_) core.owe(1.0 * others * bytes * all_.core_seconds_per_byte);
  return links_.begin(now(), costs_.phases_of_gathering(bytes, all_.without));
}

void Lockstep::begin_talk(int part, JointTalk& joint) {
  joint.begun.resize(clocks_.size());
  const ops::Talk& talk = *joint.talks[part];
  const double seconds = static_cast<double>(ops::traffic_of(talk).bytes) * all_.core_seconds_per_byte;
  for (const int r : ranks_of_part_[part]) {
    cores_[r].owe(seconds);
    joint.begun[r] = clocks_[r];
  }
}

// All circles send at the same time, so their messages meet on links; but each goes by the clocks of its own ranks.
void Lockstep::meet(JointTalk& joint) {
  const TalkCost& cost = cost_of(joint);
  joint.ends = joint.begun;
  for (const TalkRound& round : cost.rounds) {
    const std::vector<double> begun = joint.ends;
    for (const auto& [from, to] : round.messages) joint.ends[to] = std::max(joint.ends[to], begun[from]);
    for (double& end : joint.ends) end += round.seconds;
  }
  talk_messages_ += cost.messages;
  talk_bytes_ += cost.bytes;
}

const TalkCost& Lockstep::cost_of(const JointTalk& joint) {
  const auto [found, is_new] = talks_.try_emplace(joint.talks);
  if (!is_new) return found->second;
  std::vector<std::vector<int>> circles;
  for (const int r : ranks_of_part_[joint.circle_parts[0]])
    for (const comm::Circle& circle : all_.ranks[r].circles)
      if (circle.name == joint.circle) {
        circles.push_back(circle.ranks);
        for (int& rank : circles.back()) rank -= all_.placement.first;
      }
  std::vector<const comm::Schedule*> moves;
  double number_bytes = sizeof(float);
  for (const int part : joint.circle_parts) {
    const ops::Talk* const talk = joint.talks[part];
    moves.push_back(talk ? &talk->moves : nullptr);
    if (talk && talk->type == ops::Talk::Type::doubles) number_bytes = sizeof(double);
  }
  return found->second = costs_.talk(moves, circles, number_bytes, all_.without);
}

void Lockstep::end_talk(int part, const JointTalk& joint) {
  catch_up();
  for (const int r : ranks_of_part_[part]) talk_waited_ += wait_until(r, joint.ends[r]) / clocks_.size();
}

comm::ExchangeCost Lockstep::talk_cost() const {
  return {.waited_seconds = talk_waited_, .traffic = {std::llround(talk_messages_), std::llround(talk_bytes_)}};
}

double Lockstep::wait_until(double end) {
  catch_up();
  double waited = 0;
  for (std::size_t r = 0; r < clocks_.size(); ++r) waited += wait_until(static_cast<int>(r), end);
  return waited / clocks_.size();
}

double Lockstep::wait_until(int rank, double end) {
  const double idle = std::max(0.0, end - clocks_[rank]);
  cores_[rank].wait(idle);
  clocks_[rank] += idle;
  return idle;
}

void Lockstep::has_arrived(double at) { wait_until(at); }

}  // namespace isobar::sim
