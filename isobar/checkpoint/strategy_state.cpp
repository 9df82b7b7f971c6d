#include "isobar/checkpoint/strategy_state.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "isobar/base/config.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/checkpoint/piece_merger.hpp"
#include "isobar/checkpoint/plain_layout.hpp"

namespace isobar::checkpoint {
namespace {

using exec::StateBlock;
using exec::StateBlocks;
using Scope = StateBlock::Scope;
using Merge = StateBlock::Merge;
using Start = StateBlock::Start;

std::string shared_group(const StateBlock& block) {
  return fmt::format("{}/{}/", block.may_drop ? "droppable" : "kept", block.name);
}

// The lists of a scope that lie together in one array without names.
StateBlocks together(const StateBlocks& state, Scope scope) {
  StateBlocks lists;
  for (const StateBlock& block : state)
    if (block.is_list(scope) && block.may_drop == (scope == Scope::each_rank)) lists.push_back(block);
  return lists;
}

std::vector<double> numbers_together(const StateBlocks& state, Scope scope) {
  return numbers_of(together(state, scope), scope);
}

bool lies_alone(const StateBlock& block, Scope scope) {
  return block.is_list(scope) && block.may_drop != (scope == Scope::each_rank);
}

bool uses_what_is_kept(const StateBlocks& state) {
  return std::ranges::any_of(
      state, [](const StateBlock& block) { return block.scope == Scope::once && !block.may_drop && block.in_use; });
}

template <class Named>
const Named* named(const std::vector<Named>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  return found == all.end() ? nullptr : &*found;
}

// What every rank had of a block: rows of the snapshot, and where its numbers lie in a row.
template <class T>
struct Rows {
  std::span<const T> all;
  std::size_t row = 0, at = 0, count = 0;

  std::span<const T> of(std::size_t rank) const { return all.subspan(rank * row + at, count); }
};

// Whether a rank goes on with something of the rows, not with what the block begins with.
bool merges(const Snapshot& snapshot, const StateBlock& block, int ranks) {
  return snapshot.ranks == ranks || block.merge != Merge::none;
}

// What rank `rank` of `ranks` makes of the rows.
template <class T>
std::vector<T> part_of_rank(const Snapshot& snapshot, const StateBlock& block, const Rows<T>& rows, int rank,
                            int ranks) {
  std::vector<T> mine(rows.count);
  const auto me = static_cast<std::size_t>(rank), writers = static_cast<std::size_t>(snapshot.ranks);
  if (snapshot.ranks != ranks && block.merge == Merge::mean) {
    std::vector<double> sum(rows.count);
    for (std::size_t r = 0; r < writers; ++r)
      std::ranges::transform(sum, rows.of(r), sum.begin(), [](double a, T b) { return a + static_cast<double>(b); });
    std::ranges::transform(sum, mine.begin(), [&](double a) { return static_cast<T>(a / snapshot.ranks); });
    return mine;
  }
  if (me < writers) std::ranges::copy(rows.of(me), mine.begin());
  for (std::size_t r = me + static_cast<std::size_t>(ranks); r < writers; r += static_cast<std::size_t>(ranks))
    std::ranges::transform(mine, rows.of(r), mine.begin(), std::plus());
  return mine;
}

std::optional<Rows<float>> rows_of_array(const Snapshot& snapshot, const StateBlock& block, std::size_t count) {
  const Snapshot::OwnArray* const array = named(snapshot.own_arrays, block.name);
  const bool fits = array && array->may_drop == block.may_drop &&
                    array->numbers.size() == static_cast<std::size_t>(snapshot.ranks) * count;
  return fits ? std::optional(Rows<float>{array->numbers, count, 0, count}) : std::nullopt;
}

// Those of lists that lie alone, and of those that lie together: the latter only fit if all of them do.
std::optional<Rows<double>> rows_of_list(const Snapshot& snapshot, const StateBlocks& state, const StateBlock& block) {
  const auto writers = static_cast<std::size_t>(snapshot.ranks);
  const std::size_t count = numbers_of({block}, Scope::each_rank).size();
  if (lies_alone(block, Scope::each_rank)) {
    const Snapshot::List* const list = named(snapshot.own_lists, block.name);
    if (!list || list->numbers.size() != writers * count) return std::nullopt;
    return Rows<double>{list->numbers, count, 0, count};
  }
  const std::size_t row = numbers_together(state, Scope::each_rank).size();
  if (snapshot.own_numbers.size() != writers * row || row == 0) return std::nullopt;
  std::size_t at = 0;
  for (const StateBlock& before : together(state, Scope::each_rank)) {
    if (before.name == block.name) break;
    at += numbers_of({before}, Scope::each_rank).size();
  }
  return Rows<double>{snapshot.own_numbers, row, at, count};
}

// The name of the recipe's strategy, for messages; a snapshot may have any recipe.
std::string made_with(const Snapshot& snapshot) {
  try {
    const Spec recipe = parse_recipe(snapshot.recipe, snapshot.origin);
    Args args(recipe, "recipe");
    const Spec strategy =
        args.has("strategy") ? args.spec("strategy") : args.section("parallel").spec("strategy", Spec());
    return strategy.name().empty() ? "" : fmt::format(" ('{}')", strategy.name());
  } catch (const Error&) {
    return "";
  }
}

[[noreturn]] void refuse_unknown(const Snapshot& snapshot, const std::string& what) {
  fail(
      "{}: its strategy{} had something under way that must not be lost, {}, which the recipe's strategy does not "
      "know; resume with the strategy it was made with",
      snapshot.origin, made_with(snapshot), what);
}

[[noreturn]] void refuse_without(const Snapshot& snapshot, const StateBlock& block) {
  fail(
      "{}: has no '{}', which the recipe's strategy cannot begin without; its own strategy{} does not keep it: resume "
      "with that, or from a checkpoint of the recipe's strategy",
      snapshot.origin, block.name, made_with(snapshot));
}

// Names of the blocks whose arrays begin with this prefix, each once.
std::vector<std::string> blocks_in(const Snapshot& snapshot, std::string_view prefix) {
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

bool begins_with_model(const StateBlock& block) { return block.start == Start::weights || block.start == Start::slots; }

// What such an array is a copy of.
std::span<const float> model_of(const exec::ParamStore& store, const StateBlock& block) {
  return block.start == Start::weights ? store.all_weights() : store.all_slots(block.slot);
}

// What only a mistake in a strategy can break.
void expect_sound(const StateBlocks& state) {
  std::set<std::pair<Scope, std::string_view>> names;
  for (const StateBlock& block : state) {
    expects(!block.name.empty() && block.name.find('/') == std::string::npos, "a block with a name without '/'");
    expects(names.insert({block.scope, block.name}).second, "blocks of one scope with different names");
    expects(!block.is_list(Scope::piece), "pieces of an array");
    expects(!begins_with_model(block) || block.is_array(block.scope), "an array where it begins with the model");
  }
}

void expect_known(const Snapshot& snapshot, const StateBlocks& state) {
  const auto knows = [&](const std::string& name, auto matches) {
    const bool known = std::ranges::any_of(
        state, [&](const StateBlock& block) { return block.name == name && !block.may_drop && matches(block); });
    if (!known) refuse_unknown(snapshot, fmt::format("'{}'", name));
  };
  const auto is_array = [](Scope scope) { return [scope](const StateBlock& block) { return block.is_array(scope); }; };
  for (const std::string& name : blocks_in(snapshot, "kept/")) knows(name, is_array(Scope::once));
  for (const std::string& name : blocks_in(snapshot, "pieces/kept/")) knows(name, is_array(Scope::piece));
  for (const Snapshot::OwnArray& array : snapshot.own_arrays)
    if (!array.may_drop) knows(array.name, is_array(Scope::each_rank));
  for (const Snapshot::List& list : snapshot.own_lists)
    knows(list.name, [](const StateBlock& block) { return block.is_list(Scope::each_rank); });
  const std::size_t kept = snapshot.kept_numbers.size();
  if (kept > 0 && kept != numbers_together(state, Scope::once).size())
    refuse_unknown(snapshot, fmt::format("{} numbers", kept));
}

// The numbers of a list that is the same on all ranks; nothing if the snapshot does not have it.
std::optional<std::vector<double>> list_once(const Snapshot& snapshot, const StateBlock& block) {
  const Snapshot::List* const list = named(snapshot.lists, block.name);
  if (!list || list->numbers.size() != numbers_of({block}, Scope::once).size()) return std::nullopt;
  return list->numbers;
}

// Of each rank, only if the snapshot is of all ranks: else it is for others to say what a rank is missing.
bool has_own(const Snapshot& snapshot, const exec::ParamStore& store, const StateBlocks& state, const StateBlock& block,
             int ranks) {
  if (snapshot.whose != Snapshot::Whose::all) return true;
  const bool has = block.is_array(Scope::each_rank) ? rows_of_array(snapshot, block, plain_count(store)).has_value()
                                                    : rows_of_list(snapshot, state, block).has_value();
  if (has && !merges(snapshot, block, ranks))
    fail("{}: '{}' of {} rank{} cannot be continued on {}: resume on {}", snapshot.origin, block.name, snapshot.ranks,
         snapshot.ranks == 1 ? "" : "s", ranks, snapshot.ranks);
  return has;
}

bool has_required(const Snapshot& snapshot, const exec::ParamStore& store, const StateBlocks& state,
                  const StateBlock& block, int ranks) {
  if (block.scope == Scope::each_rank) return has_own(snapshot, store, state, block, ranks);
  if (block.scope == Scope::piece)  // gaps are found when it is known which rank has which cuts
    return snapshot.whose != Snapshot::Whose::all || std::ranges::any_of(snapshot.parts, [&](const auto& part) {
             return part.name.starts_with(piece_name(block, ""));
           });
  if (block.is_array(Scope::once)) return holds_shared(snapshot, block);
  return lies_alone(block, Scope::once) ? list_once(snapshot, block).has_value() : !snapshot.kept_numbers.empty();
}

// What an array in the layout of all gradients begins with. It may lie in the model itself.
void begin_array(const StateBlock& block, const exec::ParamStore& store) {
  const std::span<float> to = block.floats();
  if (!begins_with_model(block)) std::ranges::fill(to, 0.0f);
  else if (model_of(store, block).data() != to.data()) std::ranges::copy(model_of(store, block), to.begin());
}

void restore_once(const Snapshot& snapshot, const exec::ParamStore& store, const StateBlock& block) {
  if (lies_alone(block, Scope::once)) {
    const std::size_t count = numbers_of({block}, Scope::once).size();
    return set_numbers({block}, Scope::once, list_once(snapshot, block).value_or(std::vector<double>(count)));
  }
  if (!block.is_array(Scope::once)) return;  // one of those together
  if (!holds_shared(snapshot, block)) return begin_array(block, store);
  for (int p = 0; p < store.count(); ++p)
    store.write_plain(p, snapshot.values(*snapshot.find(shared_name(block, store.parameter(p).name))),
                      stored_part(store, p, block.floats()));
}

}  // namespace

std::string shared_name(const StateBlock& block, const std::string& weight) { return shared_group(block) + weight; }

bool holds_shared(const Snapshot& snapshot, const StateBlock& block) {
  const std::string group = shared_group(block);
  return block.is_array(Scope::once) &&
         std::ranges::any_of(snapshot.parts, [&](const auto& part) { return part.name.starts_with(group); });
}

std::size_t own_numbers_in(const StateBlocks& state) { return numbers_together(state, Scope::each_rank).size(); }

void copy_state(Snapshot& into, const exec::ParamStore& store, const StateBlocks& state) {
  expect_sound(state);
  into.whose = Snapshot::Whose::this_rank;
  into.kept_numbers.clear();
  if (uses_what_is_kept(state)) into.kept_numbers = numbers_together(state, Scope::once);
  set_own_lists(into, state, numbers_of(state, Scope::each_rank));
  into.lists.clear(), into.own_arrays.clear(), into.pieces.clear();
  for (const StateBlock& block : state) {
    if (!block.in_use) continue;
    if (lies_alone(block, Scope::once)) into.lists.push_back({block.name, numbers_of({block}, Scope::once)});
    if (block.is_array(Scope::each_rank))
      into.own_arrays.push_back({block.name, plain_array(store, block.floats()), block.may_drop});
    if (block.is_array(Scope::piece)) into.pieces.push_back(copy_pieces(block, store));
  }
}

void set_own_lists(Snapshot& into, const StateBlocks& state, std::span<const double> numbers) {
  into.own_numbers.clear(), into.own_lists.clear();
  std::size_t at = 0;
  for (const StateBlock& block : state) {
    if (!block.is_list(Scope::each_rank)) continue;
    const auto list = numbers.subspan(at, numbers_of({block}, Scope::each_rank).size());
    at += list.size();
    if (block.may_drop) into.own_numbers.insert(into.own_numbers.end(), list.begin(), list.end());
    else if (block.in_use) into.own_lists.push_back({block.name, {list.begin(), list.end()}});
  }
  expects(at == numbers.size(), "a place for every number");
}

void expect_state(const Snapshot& snapshot, const exec::ParamStore& store, const StateBlocks& state, int ranks) {
  expect_sound(state);
  expect_known(snapshot, state);
  for (const StateBlock& block : state)
    if (block.start == Start::required && !has_required(snapshot, store, state, block, ranks))
      refuse_without(snapshot, block);
}

void restore_state(const Snapshot& snapshot, const exec::ParamStore& store, const StateBlocks& state, int rank,
                   int ranks) {
  std::vector<double> kept(numbers_together(state, Scope::once).size());
  if (!snapshot.kept_numbers.empty()) kept = snapshot.kept_numbers;
  set_numbers(together(state, Scope::once), Scope::once, kept);
  set_numbers(state, Scope::each_rank, own_lists_for(snapshot, state, rank, ranks));
  for (const StateBlock& block : state) {
    if (block.scope == Scope::once) restore_once(snapshot, store, block);
    if (block.is_array(Scope::each_rank))
      set_plain_array(store, own_array_for(snapshot, block, store, rank, ranks), block.floats());
    if (block.is_array(Scope::piece))
      std::ranges::copy(pieces_for(block.cuts, block, snapshot, store), block.floats().begin());
  }
}

void begin_state(const exec::ParamStore& store, const StateBlocks& state) {
  expect_sound(state);
  for (const StateBlock& block : state) {
    if (!begins_with_model(block)) continue;
    if (block.scope != Scope::piece) begin_array(block, store);
    else std::ranges::copy(pieces_for(block.cuts, block, {}, store), block.floats().begin());
  }
}

std::vector<double> own_lists_for(const Snapshot& snapshot, const StateBlocks& state, int rank, int ranks) {
  std::vector<double> all;
  for (const StateBlock& block : state) {
    if (!block.is_list(Scope::each_rank)) continue;
    std::vector<double> mine(numbers_of({block}, Scope::each_rank).size());
    const auto rows = rows_of_list(snapshot, state, block);
    if (rows && merges(snapshot, block, ranks)) mine = part_of_rank(snapshot, block, *rows, rank, ranks);
    all.insert(all.end(), mine.begin(), mine.end());
  }
  return all;
}

std::vector<float> own_array_for(const Snapshot& snapshot, const StateBlock& block, const exec::ParamStore& store,
                                 int rank, int ranks) {
  const auto rows = rows_of_array(snapshot, block, plain_count(store));
  if (rows && merges(snapshot, block, ranks)) return part_of_rank(snapshot, block, *rows, rank, ranks);
  if (begins_with_model(block)) return plain_array(store, model_of(store, block));
  return std::vector<float>(plain_count(store));
}

std::size_t state_bytes(const exec::ParamStore& store, const StateBlocks& state, int ranks) {
  const auto members = static_cast<std::size_t>(ranks);
  std::size_t arrays = 0;
  for (const StateBlock& block : state)
    if (block.is_array(block.scope)) arrays += block.scope == Scope::each_rank ? members : 1;
  return arrays * plain_count(store) * sizeof(float) +
         (numbers_of(state, Scope::once).size() + members * numbers_of(state, Scope::each_rank).size()) *
             sizeof(double);
}

}  // namespace isobar::checkpoint
