#include "isobar/sim/side_by_side.hpp"

#include <algorithm>
#include <numeric>

#include "isobar/base/error.hpp"

namespace isobar::sim {
namespace {

using Phase = ops::Talk::Phase;

// Of the first rank with this part.
std::map<std::string, std::vector<int>> circles_of(int part, std::span<const parallel::Placement> ranks, int first) {
  std::map<std::string, std::vector<int>> circles;
  const auto found = std::ranges::find_if(ranks, [&](const parallel::Placement& rank) {
    return rank.part == part && rank.role == parallel::Roles::Role::trains;
  });
  expects(found != ranks.end(), "a rank of every part");
  for (const comm::Circle& circle : found->circles)
    for (const int rank : circle.ranks) {
      const int place = rank - first;
      const bool here = place >= 0 && place < std::ssize(ranks);
      circles[circle.name].push_back(here ? ranks[static_cast<std::size_t>(place)].part : -1);
    }
  return circles;
}

class NoClocks final : public PartClocks {
 public:
  void compute_part(int, double) override {}
  void begin_talk(int, JointTalk&) override {}
  void meet(JointTalk&) override {}
  void end_talk(int, const JointTalk&) override {}
};

}  // namespace

SideBySide::SideBySide(std::span<const Workload* const> parts, std::span<const parallel::Placement> ranks, int first)
    : parts_(parts.size()) {
  for (std::size_t p = 0; p < parts.size(); ++p) parts_[p].circles = circles_of(static_cast<int>(p), ranks, first);
  std::map<Name, std::vector<int>> connected;  // by part: the first of those it is connected with
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (const auto* pass : {&parts[p]->forward, &parts[p]->backward})
      for (const Stretch& stretch : *pass)
        if (stretch.talk) connect(static_cast<int>(p), *stretch.talk, connected);
  for (const auto& [name, firsts] : connected)
    for (const int part : firsts) partners_[name].push_back({part, static_cast<int>(std::ranges::count(firsts, part))});
}

void SideBySide::connect(int part, const ops::Talk& talk, std::map<Name, std::vector<int>>& connected) {
  const auto& circles = parts_[static_cast<std::size_t>(part)].circles;
  const auto circle = circles.find(talk.circle);
  if (circle == circles.end())
    fail_usage("workload: messages in the circle '{}', which part {} is not in", talk.circle, part);
  std::vector<int>& firsts = connected[{talk.circle, talk.number}];
  if (firsts.empty()) {
    firsts.resize(parts_.size());
    std::iota(firsts.begin(), firsts.end(), 0);
  }
  for (const int partner : ops::partners_of(talk)) {
    const int other = circle->second.at(static_cast<std::size_t>(partner));
    if (other < 0) fail_usage("workload: part {} talks with rank {} of '{}', which is far", part, partner, talk.circle);
    const int one = firsts[static_cast<std::size_t>(part)], two = firsts[static_cast<std::size_t>(other)];
    std::ranges::replace(firsts, std::max(one, two), std::min(one, two));
  }
}

bool SideBySide::play(std::span<const std::vector<PartStretch>> parts, PartClocks& clocks) {
  std::vector<std::size_t> next(parts.size());
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (; next[p] < parts[p].size() && step(static_cast<int>(p), parts[p][next[p]], clocks); ++next[p]) moves = true;
  }
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (next[p] < parts[p].size()) return false;
  return true;
}

bool SideBySide::step(int part, const PartStretch& stretch, PartClocks& clocks) {
  const ops::Talk* const talk = stretch.talk;
  if (talk && talk->phase == Phase::finish) {
    const auto& open = parts_[static_cast<std::size_t>(part)].open;
    const auto found = open.find({talk->circle, talk->number});
    expects(found != open.end(), "messages that have begun");
    if (found->second && !found->second->complete()) return false;
  }
  clocks.compute_part(part, stretch.seconds);
  if (!talk) return true;
  if (talk->phase == Phase::start) begin(part, *talk, clocks);
  else end(part, {talk->circle, talk->number}, clocks);
  return true;
}

void SideBySide::begin(int part, const ops::Talk& talk, PartClocks& clocks) {
  Part& own = parts_[static_cast<std::size_t>(part)];
  const Name name(talk.circle, talk.number);
  const Partners partners = partners_.at(name)[static_cast<std::size_t>(part)];
  const int before = own.begun[name]++;
  if (partners.count == 1) {
    own.open[name] = nullptr;
    return;
  }
  JointTalk& joint = joint_[{talk.circle, talk.number, before, partners.first}];
  if (joint.parts == 0)
    joint = {.circle = talk.circle,
             .circle_parts = own.circles.at(talk.circle),
             .parts = partners.count,
             .talks = std::vector<const ops::Talk*>(parts_.size())};
  expects(own.open.emplace(name, &joint).second, "messages that have ended before they begin again");
  joint.talks[static_cast<std::size_t>(part)] = &talk;
  clocks.begin_talk(part, joint);
  if (++joint.begun_parts == joint.parts) clocks.meet(joint);
}

void SideBySide::end(int part, const Name& name, PartClocks& clocks) {
  Part& own = parts_[static_cast<std::size_t>(part)];
  const auto open = own.open.extract(name);
  JointTalk* const joint = open.mapped();
  if (!joint) return;
  clocks.end_talk(part, *joint);
  if (++joint->ended_parts < joint->parts) return;
  const int before = own.begun.at(name) - 1, first = partners_.at(name)[static_cast<std::size_t>(part)].first;
  joint_.erase({name.first, name.second, before, first});
}

// Two steps, since the second begins where the first ends.
bool go_together(std::span<const Workload* const> parts, std::span<const parallel::Placement> ranks, int first) {
  if (!agree_on_gradients(parts)) return false;
  SideBySide all(parts, ranks, first);
  NoClocks clocks;
  for (int step = 0; step < 2; ++step)
    for (const auto pass : {&Workload::forward, &Workload::backward})
      for (const JointStretch& stretch : joint_pass(parts, pass))
        if (!all.play(stretch.parts, clocks)) return false;
  return true;
}

}  // namespace isobar::sim
