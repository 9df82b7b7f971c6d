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

  // A run that went back because of bad numbers is further than one that has not yet.
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

// Gives all ranks the bytes of one; in pieces, which bound the copies that are made on the way.
template <class T>
void share(comm::Comm& comm, int root, std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::size_t piece = (std::size_t{64} << 20) / sizeof(T);
  const bool gives = comm.rank() == root;
  const auto bytes_of = [](auto part) {
    const auto raw = std::as_bytes(part);
    return comm::Bytes(raw.begin(), raw.end());
  };
  std::uint64_t count = values.size();
  comm::Bytes head = bytes_of(std::span(&count, 1));
  comm::broadcast(comm, head, root);
  std::memcpy(&count, head.data(), sizeof count);
  if (!gives) values.resize(count);
  for (std::size_t first = 0; first < count; first += piece) {
    const auto part = std::span(values).subspan(first, std::min<std::size_t>(piece, count - first));
    comm::Bytes bytes = gives ? bytes_of(part) : comm::Bytes();
    comm::broadcast(comm, bytes, root);
    expects(bytes.size() == part.size_bytes(), "as many bytes as were announced");
    if (!gives) std::memcpy(part.data(), bytes.data(), bytes.size());
  }
}

template <class T>
void share_one(comm::Comm& comm, int root, T& object) {
  std::vector<T> one{object};
  share(comm, root, one);
  object = one[0];
}

void share_line(comm::Comm& comm, int root, std::string& text) {
  std::vector<char> letters(text.begin(), text.end());
  share(comm, root, letters);
  text.assign(letters.begin(), letters.end());
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

void share_snapshot(comm::Comm& comm, int root, checkpoint::Snapshot& state) {
  share_one(comm, root, state.position);
  share_one(comm, root, state.seed);
  share_one(comm, root, state.best);
  share_one(comm, root, state.slots);
  share_one(comm, root, state.ranks);
  for (std::string* text : {&state.origin, &state.recipe, &state.plan, &state.metrics}) share_line(comm, root, *text);
  std::string parts = comm.rank() == root ? written(state.parts) : "";
  share_line(comm, root, parts);
  if (comm.rank() != root) state.parts = read_parts(parts);
  share(comm, root, state.numbers);
  share(comm, root, state.kept_numbers);
  share(comm, root, state.statistics);
  share(comm, root, state.own_numbers);
}

// What is the same on all ranks that have the newest state, unless they noticed different changes.
void share_story(comm::Comm& comm, int root, Carried& mine) {
  std::string changes = to_json(mine.changes);
  share_line(comm, root, changes);
  if (comm.rank() != root) mine.changes = changes_in(changes);
  share(comm, root, mine.members);
  share_one(comm, root, mine.first_step);
  share_one(comm, root, mine.seconds);
  share_one(comm, root, mine.step_seconds);
  share_one(comm, root, mine.skipped);
  double since = now_seconds() - mine.noticed;  // clocks of nodes differ
  share_one(comm, root, since);
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
    standing.even = standing.even && theirs.order() == ahead->order();
    standing.batch = std::max(standing.batch, theirs.batch);
    standing.stopping = standing.stopping || theirs.stopping;
  }
  standing.behind = place.order() != ahead->order();
  return standing;
}

void share_state(comm::Comm& comm, const Standing& standing, Carried& mine) {
  expects(standing.ahead >= 0, "a state to share");
  share_story(comm, standing.ahead, mine);
  if (standing.even) return;
  const bool gives = comm.rank() == standing.ahead;
  const auto group = comm.split(gives || standing.behind ? 0 : -1, gives ? -1 : comm.rank());
  if (!group) return;
  if (gives) {
    share_snapshot(*group, 0, mine.state);
    comm::Bytes recent = mine.recent.pack();
    return share(*group, 0, recent);
  }
  // Kept apart until all of it is there: another rank may die meanwhile.
  checkpoint::Snapshot state;
  comm::Bytes recent;
  share_snapshot(*group, 0, state);
  share(*group, 0, recent);
  mine.recent = Recent::unpack(recent);
  mine.state = std::move(state);
  mine.has_state = true;
}

}  // namespace isobar::train
