#include "isobar/checkpoint/snapshot.hpp"

#include <algorithm>
#include <functional>

#include "isobar/base/error.hpp"
#include "isobar/checkpoint/plain_layout.hpp"
#include "isobar/checkpoint/strategy_state.hpp"

namespace isobar::checkpoint {
namespace {

std::string slot_group(int s) { return fmt::format("slots/{}/", s); }

bool gathered(const exec::ParamStore& store, int p) { return !store.parameter(p).declared.trained; }

using exec::StateBlock;

using Visit = std::function<void(const std::string& name, int p, std::span<float> stored)>;

// Calls visit(name, parameter, numbers in the layout of the store) for every array of the model, always in this order.
void for_each_array(const exec::ParamStore& store, const Visit& visit) {
  const auto group = [&](const std::string& prefix, const std::function<std::span<float>(int)>& numbers) {
    for (int p = 0; p < store.count(); ++p) visit(prefix + store.parameter(p).name, p, numbers(p));
  };
  group("weights/", [&](int p) { return store.weight(p); });
  for (int s = 0; s < store.slot_count(); ++s) group(slot_group(s), [&, s](int p) { return store.slot(p, s); });
}

// The same for those of a strategy's that are equal on all ranks.
void for_each_array(const exec::ParamStore& store, const StateBlock& block, const Visit& visit) {
  if (!block.is_array(StateBlock::Scope::once)) return;
  for (int p = 0; p < store.count(); ++p)
    visit(shared_name(block, store.parameter(p).name), p, stored_part(store, p, block.floats()));
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

}  // namespace

void Position::finish_epoch() {
  ++epoch;
  step_in_epoch = loss_samples = skipped = 0;
  loss_sum = 0;
}

const Snapshot::Part* Snapshot::find(const std::string& name) const {
  const auto found = std::ranges::find(parts, name, &Part::name);
  return found == parts.end() ? nullptr : &*found;
}

std::size_t Snapshot::bytes() const {
  std::size_t floats = numbers.size() + statistics.size();
  std::size_t doubles = kept_numbers.size() + own_numbers.size(), places = 0;
  for (const OwnArray& array : own_arrays) floats += array.numbers.size();
  for (const OwnPieces& own : pieces) floats += own.numbers.size(), places += own.cuts.size();
  for (const auto* all : {&lists, &own_lists})
    for (const List& list : *all) doubles += list.numbers.size();
  return floats * sizeof(float) + doubles * sizeof(double) + places * sizeof(StateBlock::Cut);
}

void take_snapshot(Snapshot& into, const exec::ParamStore& store, const Position& position,
                   const exec::StateBlocks& state) {
  into.position = position;
  into.slots = store.slot_count();
  into.parts.clear();
  const auto visit_all = [&](const Visit& visit) {
    for_each_array(store, visit);
    for (const StateBlock& block : state)
      if (block.in_use) for_each_array(store, block, visit);
  };
  std::size_t all = 0;
  visit_all([&](const std::string& name, int p, std::span<float>) {
    into.parts.push_back({name, store.parameter(p).declared.shape, all, plain_count(store, p)});
    all += plain_count(store, p);
  });
  into.numbers.resize(all);
  std::size_t part = 0;
  visit_all([&](const std::string&, int p, std::span<float> stored) {
    const Snapshot::Part& to = into.parts[part++];
    store.read_plain(p, stored, std::span(into.numbers).subspan(to.first, to.count));
  });
  into.ranks = 1;
  into.statistics = own_statistics(store);
  copy_state(into, store, state);
}

std::size_t snapshot_bytes(const exec::ParamStore& store, const exec::StateBlocks& state, int ranks) {
  const auto arrays = static_cast<std::size_t>(1 + store.slot_count());
  return (arrays * plain_count(store) + static_cast<std::size_t>(ranks) * statistics_count(store)) * sizeof(float) +
         state_bytes(store, state, ranks);
}

bool holds_own(const Snapshot& snapshot, const exec::ParamStore& store, const exec::StateBlocks& state, int ranks) {
  const auto members = static_cast<std::size_t>(ranks);
  return snapshot.ranks == ranks && snapshot.statistics.size() == members * statistics_count(store) &&
         snapshot.own_numbers.size() == members * own_numbers_in(state);
}

void restore(const Snapshot& snapshot, exec::ParamStore& store, const exec::StateBlocks& state, int rank, int ranks) {
  expect_weights(snapshot, store);
  if (snapshot.slots != store.slot_count())
    fail("{}: its optimizer keeps {} numbers per weight, the recipe's keeps {}", snapshot.origin, snapshot.slots,
         store.slot_count());
  expect_state(snapshot, store, state, ranks);
  std::vector<std::function<void()>> changes;
  const auto read = [&](const std::string& name, int p, std::span<float> stored) {
    const Snapshot::Part& part = fitting(snapshot, name, store.parameter(p).declared.shape);
    changes.emplace_back(
        [&store, &snapshot, &part, p, stored] { store.write_plain(p, snapshot.values(part), stored); });
  };
  for_each_array(store, read);
  for (const StateBlock& block : state)
    if (holds_shared(snapshot, block))
      for_each_array(store, block, [&](const std::string& name, int p, std::span<float>) {
        fitting(snapshot, name, store.parameter(p).declared.shape);
      });
  for (const auto& change : changes) change();
  if (holds_own(snapshot, store, state, ranks)) {
    const std::size_t statistics = statistics_count(store);
    set_own_statistics(store,
                       std::span(snapshot.statistics).subspan(static_cast<std::size_t>(rank) * statistics, statistics));
  }
  restore_state(snapshot, store, state, rank, ranks);
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
