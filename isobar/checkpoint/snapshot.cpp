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

using Scope = exec::StateBlock::Scope;

// Whether a strategy has something under way that is to be kept.
bool is_under_way(const exec::StateBlocks& state) {
  if (std::ranges::none_of(state, &exec::StateBlock::is_shared_array)) return false;
  const std::vector<double> numbers = numbers_of(state, Scope::once);
  return numbers.empty() || std::ranges::any_of(numbers, [](double n) { return n != 0; });
}

using Visit = std::function<void(const std::string& name, int p, std::span<float> stored)>;

// Calls visit(name, parameter, numbers in the layout of the store) for every array of the model, always in this order.
void for_each_array(const exec::ParamStore& store, const Visit& visit) {
  const auto group = [&](const std::string& prefix, const std::function<std::span<float>(int)>& numbers) {
    for (int p = 0; p < store.count(); ++p) visit(prefix + store.parameter(p).name, p, numbers(p));
  };
  group("weights/", [&](int p) { return store.weight(p); });
  for (int s = 0; s < store.slot_count(); ++s) group(slot_group(s), [&, s](int p) { return store.slot(p, s); });
}

// The same for those of a strategy.
void for_each_array(const exec::ParamStore& store, const exec::StateBlocks& state, const Visit& visit) {
  for (const exec::StateBlock& block : state) {
    if (!block.is_shared_array()) continue;
    for (int p = 0; p < store.count(); ++p)
      visit("kept/" + block.name + "/" + store.parameter(p).name, p,
            block.floats().subspan(store.offset(p), store.gradient(p).size()));
  }
}

std::size_t all_plain(const exec::ParamStore& store) {
  std::size_t plain = 0;
  for (int p = 0; p < store.count(); ++p) plain += plain_count(store, p);
  return plain;
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

// What was left under way by one strategy cannot be finished by another.
void expect_same_kept(const Snapshot& snapshot, const exec::StateBlocks& state) {
  std::vector<std::string> names;
  for (const exec::StateBlock& block : state)
    if (block.is_shared_array()) names.push_back(block.name);
  std::ranges::sort(names);
  const std::vector<std::string> held = blocks_in(snapshot);
  if (names != held || snapshot.kept_numbers.size() != numbers_of(state, Scope::once).size())
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

const Snapshot::Part* Snapshot::find(const std::string& name) const {
  const auto found = std::ranges::find(parts, name, &Part::name);
  return found == parts.end() ? nullptr : &*found;
}

std::size_t Snapshot::bytes() const {
  std::size_t floats = numbers.size() + statistics.size();
  for (const OwnArray& array : own_arrays) floats += array.numbers.size();
  return floats * sizeof(float) + (kept_numbers.size() + own_numbers.size()) * sizeof(double);
}

void take_snapshot(Snapshot& into, const exec::ParamStore& store, const Position& position,
                   const exec::StateBlocks& state) {
  into.position = position;
  into.slots = store.slot_count();
  into.parts.clear();
  const bool under_way = is_under_way(state);
  const auto visit_all = [&](const Visit& visit) {
    for_each_array(store, visit);
    if (under_way) for_each_array(store, state, visit);
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
  into.kept_numbers.clear();
  if (under_way) into.kept_numbers = numbers_of(state, Scope::once);
  into.ranks = 1;
  into.statistics = own_statistics(store);
  into.own_numbers = numbers_of(state, Scope::each_rank);
  into.own_arrays.clear();
  for (const exec::StateBlock& block : state)
    if (block.is_own_array()) into.own_arrays.push_back({block.name, plain_array(store, block.floats())});
}

std::size_t snapshot_bytes(const exec::ParamStore& store, const exec::StateBlocks& state, int ranks) {
  const std::size_t plain = all_plain(store);
  const auto members = static_cast<std::size_t>(ranks);
  auto arrays = static_cast<std::size_t>(1 + store.slot_count());
  for (const exec::StateBlock& block : state)
    arrays += block.is_own_array() ? members : block.is_shared_array() ? 1 : 0;
  return (arrays * plain + members * statistics_count(store)) * sizeof(float) +
         (numbers_of(state, Scope::once).size() + members * numbers_of(state, Scope::each_rank).size()) *
             sizeof(double);
}

bool holds_own(const Snapshot& snapshot, const exec::ParamStore& store, const exec::StateBlocks& state, int ranks) {
  const auto members = static_cast<std::size_t>(ranks);
  return snapshot.ranks == ranks && snapshot.statistics.size() == members * statistics_count(store) &&
         snapshot.own_numbers.size() == members * numbers_of(state, Scope::each_rank).size();
}

void restore(const Snapshot& snapshot, exec::ParamStore& store, const exec::StateBlocks& state, int rank, int ranks) {
  expect_weights(snapshot, store);
  if (snapshot.slots != store.slot_count())
    fail("{}: its optimizer keeps {} numbers per weight, the recipe's keeps {}", snapshot.origin, snapshot.slots,
         store.slot_count());
  const bool under_way = !blocks_in(snapshot).empty();
  if (under_way) expect_same_kept(snapshot, state);
  const std::size_t statistics = statistics_count(store);
  const auto me = static_cast<std::size_t>(rank);
  const bool mine = holds_own(snapshot, store, state, ranks);
  std::vector<std::function<void()>> changes;
  const auto read = [&](const std::string& name, int p, std::span<float> stored) {
    const Snapshot::Part& part = fitting(snapshot, name, store.parameter(p).declared.shape);
    changes.emplace_back(
        [&store, &snapshot, &part, p, stored] { store.write_plain(p, snapshot.values(part), stored); });
  };
  for_each_array(store, read);
  if (under_way) for_each_array(store, state, read);
  for (const auto& change : changes) change();
  // What is under way here is not any more, also where nothing was then.
  std::vector<double> kept(numbers_of(state, Scope::once).size()), own(numbers_of(state, Scope::each_rank).size());
  if (under_way) kept = snapshot.kept_numbers;
  if (mine) {
    set_own_statistics(store, std::span(snapshot.statistics).subspan(me * statistics, statistics));
    std::ranges::copy(std::span(snapshot.own_numbers).subspan(me * own.size(), own.size()), own.begin());
  }
  set_numbers(state, Scope::once, kept);
  set_numbers(state, Scope::each_rank, own);
  for (const exec::StateBlock& block : state)
    if (block.is_own_array()) set_plain_array(store, own_array(snapshot, block, store, rank, ranks), block.floats());
}

void restore_weights(const Snapshot& snapshot, exec::ParamStore& store) {
  expect_weights(snapshot, store);
  for (int p = 0; p < store.count(); ++p)
    store.write_plain(p, snapshot.values(*snapshot.find("weights/" + store.parameter(p).name)), store.weight(p));
}

std::vector<float> own_array(const Snapshot& snapshot, const exec::StateBlock& block, const exec::ParamStore& store,
                             int rank, int ranks) {
  const std::size_t count = all_plain(store);
  std::vector<float> mine(count);
  const auto array = std::ranges::find(snapshot.own_arrays, block.name, &Snapshot::OwnArray::name);
  const auto writers = static_cast<std::size_t>(snapshot.ranks);
  if (array == snapshot.own_arrays.end() || array->numbers.size() != writers * count) return mine;
  if (snapshot.ranks != ranks && block.merge == exec::StateBlock::Merge::zero) return mine;
  for (auto r = static_cast<std::size_t>(rank); r < writers; r += static_cast<std::size_t>(ranks))
    std::ranges::transform(mine, std::span(array->numbers).subspan(r * count, count), mine.begin(), std::plus());
  return mine;
}

std::vector<float> plain_array(const exec::ParamStore& store, std::span<const float> stored) {
  std::vector<float> plain(all_plain(store));
  std::size_t at = 0;
  for (int p = 0; p < store.count(); at += plain_count(store, p), ++p)
    store.read_plain(p, stored.subspan(store.offset(p), store.gradient(p).size()),
                     std::span(plain).subspan(at, plain_count(store, p)));
  return plain;
}

void set_plain_array(const exec::ParamStore& store, std::span<const float> plain, std::span<float> stored) {
  std::size_t at = 0;
  for (int p = 0; p < store.count(); at += plain_count(store, p), ++p)
    store.write_plain(p, plain.subspan(at, plain_count(store, p)),
                      stored.subspan(store.offset(p), store.gradient(p).size()));
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
