#include "isobar/checkpoint/snapshot.hpp"

#include <algorithm>
#include <functional>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::checkpoint {
namespace {

std::string slot_group(int s) { return fmt::format("slots/{}/", s); }

bool gathered(const exec::ParamStore& store, int p) { return !store.parameter(p).declared.trained; }

std::size_t plain_count(const exec::ParamStore& store, int p) {
  return static_cast<std::size_t>(store.parameter(p).declared.shape.count());
}

// Calls visit(name, parameter, numbers in the layout of the store) for every array of a snapshot, always in this order.
void for_each_array(const exec::ParamStore& store, const Kept& kept,
                    const std::function<void(const std::string&, int, std::span<float>)>& visit) {
  const auto group = [&](const std::string& prefix, const std::function<std::span<float>(int)>& numbers) {
    for (int p = 0; p < store.count(); ++p) visit(prefix + store.parameter(p).name, p, numbers(p));
  };
  group("weights/", [&](int p) { return store.weight(p); });
  for (int s = 0; s < store.slot_count(); ++s) group(slot_group(s), [&, s](int p) { return store.slot(p, s); });
  if (kept.empty()) return;
  for (const auto& block : kept.blocks)
    group("kept/" + block.first + "/",
          [&](int p) { return block.second.subspan(store.offset(p), store.gradient(p).size()); });
}

std::size_t statistics_count(const exec::ParamStore& store) {
  std::size_t count = 0;
  for (int p = 0; p < store.count(); ++p)
    if (gathered(store, p)) count += plain_count(store, p);
  return count;
}

const Snapshot::Part& fitting(const Snapshot& snapshot, const std::string& name, const Shape& shape) {
  const Snapshot::Part* const part = snapshot.find(name);
  if (!part) fail("{}: has no '{}'", snapshot.origin, name);
  if (part->shape != shape)
    fail("{}: '{}' is {}, the network expects {}", snapshot.origin, name, part->shape.str(), shape.str());
  return *part;
}

void expect_weights(const Snapshot& snapshot, const exec::ParamStore& store) {
  const auto held = std::ranges::count_if(snapshot.parts, [](const auto& p) { return p.name.starts_with("weights/"); });
  if (held != store.count()) fail("{}: holds {} weights, the network has {}", snapshot.origin, held, store.count());
  for (int p = 0; p < store.count(); ++p)
    fitting(snapshot, "weights/" + store.parameter(p).name, store.parameter(p).declared.shape);
}

// Names of the blocks under kept/, each once.
std::vector<std::string> blocks_in(const Snapshot& snapshot) {
  constexpr std::string_view prefix = "kept/";
  std::vector<std::string> names;
  for (const Snapshot::Part& part : snapshot.parts) {
    if (!part.name.starts_with(prefix)) continue;
    const std::string rest = part.name.substr(prefix.size());
    names.push_back(rest.substr(0, rest.find('/')));
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// A strategy cannot finish what another one left in progress.
void expect_same_kept(const Snapshot& snapshot, const Kept& kept) {
  std::vector<std::string> names;
  for (const auto& block : kept.blocks) names.push_back(block.first);
  std::ranges::sort(names);
  const std::vector<std::string> held = blocks_in(snapshot);
  if (names != held || snapshot.kept_numbers.size() != kept.numbers.size())
    fail(
        "{}: its strategy had steps under way, {}, which the recipe's strategy does not know; resume with the strategy "
        "it was made with",
        snapshot.origin, join(held, ", "));
}

}  // namespace

void Position::finish_epoch() {
  ++epoch;
  step_in_epoch = loss_samples = skipped = 0;
  loss_sum = 0;
}

bool Kept::empty() const {
  return blocks.empty() || (!numbers.empty() && std::ranges::all_of(numbers, [](double n) { return n == 0; }));
}

const Snapshot::Part* Snapshot::find(const std::string& name) const {
  const auto found = std::ranges::find(parts, name, &Part::name);
  return found == parts.end() ? nullptr : &*found;
}

std::size_t Snapshot::bytes() const {
  return (numbers.size() + statistics.size()) * sizeof(float) +
         (kept_numbers.size() + own_numbers.size()) * sizeof(double);
}

void take_snapshot(Snapshot& into, const exec::ParamStore& store, const Position& position, const Kept& kept) {
  into.position = position;
  into.slots = store.slot_count();
  into.parts.clear();
  std::size_t all = 0;
  for_each_array(store, kept, [&](const std::string& name, int p, std::span<float>) {
    into.parts.push_back({name, store.parameter(p).declared.shape, all, plain_count(store, p)});
    all += plain_count(store, p);
  });
  into.numbers.resize(all);
  std::size_t part = 0;
  for_each_array(store, kept, [&](const std::string&, int p, std::span<float> stored) {
    const Snapshot::Part& to = into.parts[part++];
    store.read_plain(p, stored, std::span(into.numbers).subspan(to.first, to.count));
  });
  into.kept_numbers.clear();
  if (!kept.empty()) into.kept_numbers.assign(kept.numbers.begin(), kept.numbers.end());
  into.ranks = 1;
  into.statistics = own_statistics(store);
  into.own_numbers.assign(kept.own.begin(), kept.own.end());
}

std::size_t snapshot_bytes(const exec::ParamStore& store, const Kept& kept, int ranks) {
  std::size_t plain = 0;
  for (int p = 0; p < store.count(); ++p) plain += plain_count(store, p);
  const std::size_t arrays = 1 + static_cast<std::size_t>(store.slot_count()) + kept.blocks.size();
  const auto members = static_cast<std::size_t>(ranks);
  return (arrays * plain + members * statistics_count(store)) * sizeof(float) +
         (kept.numbers.size() + members * kept.own.size()) * sizeof(double);
}

bool holds_own(const Snapshot& snapshot, const exec::ParamStore& store, const Kept& kept, int ranks) {
  const auto members = static_cast<std::size_t>(ranks);
  return snapshot.ranks == ranks && snapshot.statistics.size() == members * statistics_count(store) &&
         snapshot.own_numbers.size() == members * kept.own.size();
}

void restore(const Snapshot& snapshot, exec::ParamStore& store, const Kept& kept, int rank, int ranks) {
  expect_weights(snapshot, store);
  if (snapshot.slots != store.slot_count())
    fail("{}: its optimizer keeps {} numbers per weight, the recipe's keeps {}", snapshot.origin, snapshot.slots,
         store.slot_count());
  const bool under_way = !blocks_in(snapshot).empty();
  if (under_way) expect_same_kept(snapshot, kept);
  const std::size_t statistics = statistics_count(store), own = kept.own.size();
  const auto me = static_cast<std::size_t>(rank);
  const bool mine = holds_own(snapshot, store, kept, ranks);
  // Blocks are read even if their numbers here are zero, as they are at the start.
  std::vector<std::function<void()>> changes;
  const auto read = [&](const std::string& name, int p, std::span<float> stored) {
    const Snapshot::Part& part = fitting(snapshot, name, store.parameter(p).declared.shape);
    changes.emplace_back(
        [&store, &snapshot, &part, p, stored] { store.write_plain(p, snapshot.values(part), stored); });
  };
  for_each_array(store, {}, read);
  if (under_way)
    for_each_array(store, {kept.blocks, {}, {}}, [&](const std::string& name, int p, auto stored) {
      if (name.starts_with("kept/")) read(name, p, stored);
    });
  for (const auto& change : changes) change();
  if (under_way) std::ranges::copy(snapshot.kept_numbers, kept.numbers.begin());
  std::ranges::fill(kept.own, 0.0);
  if (!mine) return;
  set_own_statistics(store, std::span(snapshot.statistics).subspan(me * statistics, statistics));
  std::ranges::copy(std::span(snapshot.own_numbers).subspan(me * own, own), kept.own.begin());
}

void restore_weights(const Snapshot& snapshot, exec::ParamStore& store) {
  expect_weights(snapshot, store);
  for (int p = 0; p < store.count(); ++p)
    store.write_plain(p, snapshot.values(*snapshot.find("weights/" + store.parameter(p).name)), store.weight(p));
}

std::vector<float> own_statistics(const exec::ParamStore& store) {
  std::vector<float> all(statistics_count(store));
  std::size_t at = 0;
  for (int p = 0; p < store.count(); ++p) {
    if (!gathered(store, p)) continue;
    store.read_plain(p, store.weight(p), std::span(all).subspan(at, plain_count(store, p)));
    at += plain_count(store, p);
  }
  return all;
}

void set_own_statistics(exec::ParamStore& store, std::span<const float> statistics) {
  expects(statistics.size() == statistics_count(store), "as many running statistics as the network has");
  std::size_t at = 0;
  for (int p = 0; p < store.count(); ++p) {
    if (!gathered(store, p)) continue;
    store.write_plain(p, statistics.subspan(at, plain_count(store, p)), store.weight(p));
    at += plain_count(store, p);
  }
}

}  // namespace isobar::checkpoint
