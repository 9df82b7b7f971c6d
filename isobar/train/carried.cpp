#include "isobar/train/carried.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include <nlohmann/json.hpp>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/comm/collectives.hpp"

namespace isobar::train {
namespace {

using Json = nlohmann::json;

struct Place {
  std::int64_t has_state = 0, rewinds = 0, step = 0, epoch = 0, batch = 0, stopping = 0;

  // A rank that has gone back because of bad numbers is ahead of one that has not yet.
  auto order() const { return std::tuple(has_state, rewinds, step, epoch); }
};

Place place_of(const Carried& mine) {
  Place place{.batch = mine.batch, .stopping = mine.stopping};
  if (!mine.has_state) return place;
  place.has_state = 1;
  place.rewinds = mine.state.position.rewinds;
  place.step = mine.state.position.step;
  place.epoch = mine.state.position.epoch;
  return place;
}

std::string written(const std::vector<checkpoint::Snapshot::Part>& parts) {
  Json list = Json::array();
  for (const checkpoint::Snapshot::Part& part : parts)
    list.push_back({part.name, part.shape.extents(), part.first, part.count});
  return list.dump();
}

std::vector<checkpoint::Snapshot::Part> read_parts(const std::string& text) {
  std::vector<checkpoint::Snapshot::Part> parts;
  for (const Json& part : Json::parse(text))
    parts.push_back({part[0], Shape(part[1].get<std::vector<std::int64_t>>()), part[2], part[3]});
  return parts;
}

// Sends the first rank's snapshot to all.
void share_snapshot(comm::Comm& comm, checkpoint::Snapshot& state) {
  broadcast_object(comm, state.position);
  broadcast_object(comm, state.seed);
  broadcast_object(comm, state.best);
  broadcast_object(comm, state.slots);
  broadcast_object(comm, state.ranks);
  for (std::string* text : {&state.origin, &state.recipe, &state.plan, &state.metrics}) broadcast(comm, *text);
  std::string parts = comm.rank() == 0 ? written(state.parts) : "";
  broadcast(comm, parts);
  if (comm.rank() > 0) state.parts = read_parts(parts);
  broadcast(comm, state.numbers);
  broadcast(comm, state.kept_numbers);
  broadcast(comm, state.statistics);
  broadcast(comm, state.own_numbers);
  std::uint64_t lists = state.lists.size();
  broadcast_object(comm, lists);
  state.lists.resize(lists);
  for (checkpoint::Snapshot::List& list : state.lists) {
    broadcast(comm, list.name);
    broadcast(comm, list.numbers);
  }
  // What another rank has for itself is not for this one: it begins as the blocks say.
  if (comm.rank() > 0) state.whose = checkpoint::Snapshot::Whose::nobody;
}

// Shares what is the same on all ranks with the newest state, unless they noticed different changes.
void share_story(comm::Comm& comm, int root, Carried& mine) {
  std::string changes = to_json(mine.changes);
  broadcast(comm, changes, root);
  if (comm.rank() != root) mine.changes = changes_in(changes);
  broadcast(comm, mine.members, root);
  broadcast_object(comm, mine.first_step, root);
  broadcast_object(comm, mine.seconds, root);
  broadcast_object(comm, mine.step_seconds, root);
  broadcast_object(comm, mine.skipped, root);
  double since = now_seconds() - mine.noticed;  // clocks of nodes differ
  broadcast_object(comm, since, root);
  if (comm.rank() != root) mine.noticed = now_seconds() - since;
}

}  // namespace

Standing compare(comm::Comm& comm, const Carried& mine) {
  const Place place = place_of(mine);
  std::vector<Place> all;
  for (const comm::Bytes& bytes : comm::all_gather(comm, std::as_bytes(std::span(&place, 1)))) {
    expects(bytes.size() == sizeof(Place), "the place of a rank");
    std::memcpy(&all.emplace_back(), bytes.data(), sizeof(Place));
  }
  const auto ahead = std::ranges::max_element(all, {}, &Place::order);
  Standing standing;
  if (ahead->has_state) standing.ahead = static_cast<int>(ahead - all.begin());
  for (const Place& theirs : all) {
    if (theirs.order() != ahead->order()) standing.behind.push_back(static_cast<int>(&theirs - all.data()));
    standing.batch = std::max(standing.batch, theirs.batch);
    standing.stopping = standing.stopping || theirs.stopping;
  }
  return standing;
}

void share_state(comm::Comm& comm, const Standing& standing, Carried& mine) {
  expects(standing.ahead >= 0, "a state to share");
  share_story(comm, standing.ahead, mine);
  std::vector<int> some{standing.ahead};
  some.insert(some.end(), standing.behind.begin(), standing.behind.end());
  if (standing.behind.empty() || std::ranges::find(some, comm.rank()) == some.end()) return;
  const auto group = comm.among(some);
  if (group->rank() == 0) {
    share_snapshot(*group, mine.state);
    comm::Bytes recent = mine.recent.pack();
    return broadcast(*group, recent);
  }
  // Kept separate until it is complete: another rank may die meanwhile.
  checkpoint::Snapshot state;
  comm::Bytes recent;
  share_snapshot(*group, state);
  broadcast(*group, recent);
  mine.recent = Recent::unpack(recent);
  mine.state = std::move(state);
  mine.has_state = true;
}

}  // namespace isobar::train
