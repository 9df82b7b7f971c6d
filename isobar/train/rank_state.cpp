#include "isobar/train/rank_state.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/checkpoint/piece_merger.hpp"
#include "isobar/checkpoint/plain_layout.hpp"
#include "isobar/checkpoint/strategy_state.hpp"
#include "isobar/comm/collectives.hpp"
#include "isobar/train/carried.hpp"

namespace isobar::train {
namespace {

using checkpoint::Snapshot;
using exec::StateBlock;
using Scope = StateBlock::Scope;
using Cut = StateBlock::Cut;

constexpr int own_array_tag = 1;

template <class T>
std::vector<T> from_bytes(std::span<const std::byte> bytes) {
  std::vector<T> list(bytes.size() / sizeof(T));
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(list)).begin());
  return list;
}

// On rank 0 the lists of all ranks, one after the other.
template <class T>
void gather_rows(comm::Comm& comm, std::vector<T>& list) {
  std::vector<T> all;
  gather(comm, std::as_bytes(std::span(list)), [&](int, std::span<const std::byte> theirs) {
    const std::vector<T> row = from_bytes<T>(theirs);
    all.insert(all.end(), row.begin(), row.end());
  });
  list = std::move(all);
}

// The cuts of all ranks, on rank 0.
std::vector<std::vector<Cut>> gather_cuts(comm::Comm& comm, const std::vector<Cut>& mine) {
  std::vector<std::vector<Cut>> all;
  gather(comm, std::as_bytes(std::span(mine)),
         [&](int, std::span<const std::byte> theirs) { all.push_back(from_bytes<Cut>(theirs)); });
  return all;
}

// On rank 0 the whole that the ranks' pieces make, as arrays of the snapshot; it holds one rank's pieces at a time.
void gather_pieces(comm::Comm& comm, const StateBlock& block, const Snapshot::OwnPieces& mine,
                   const exec::ParamStore& store, Snapshot& into) {
  const std::vector<std::vector<Cut>> cuts = gather_cuts(comm, mine.cuts);
  std::optional<checkpoint::PieceMerger> merger;
  if (comm.rank() == 0) merger.emplace(block, store);
  gather(comm, std::as_bytes(std::span(mine.numbers)), [&](int rank, std::span<const std::byte> theirs) {
    merger->add({block.name, cuts[static_cast<std::size_t>(rank)], from_bytes<float>(theirs)});
  });
  if (merger) merger->append_to(into);
}

// Rank 0 makes the content of every rank's block, one at a time, and its own at last.
template <class Make>
void send_each(comm::Comm& comm, std::span<float> mine, Make make) {
  if (comm.rank() > 0) return comm.receive(0, own_array_tag, std::as_writable_bytes(mine));
  for (int rank = comm.size() - 1; rank >= 0; --rank) {
    const std::vector<float> theirs = make(rank);
    if (rank > 0) comm.send(rank, own_array_tag, std::as_bytes(std::span(theirs)));
    else std::ranges::copy(theirs, mine.begin());
  }
}

void spread_pieces(comm::Comm& comm, const Snapshot& snapshot, const StateBlock& block, const exec::ParamStore& store) {
  const std::vector<std::vector<Cut>> cuts = gather_cuts(comm, block.cuts);
  send_each(comm, block.floats(), [&](int rank) {
    return checkpoint::pieces_for(cuts[static_cast<std::size_t>(rank)], block, snapshot, store);
  });
}

void spread_own(comm::Comm& comm, const Snapshot& snapshot, const StateBlock& block, const exec::ParamStore& store) {
  std::vector<float> mine(checkpoint::plain_count(store));
  send_each(comm, mine, [&](int rank) { return checkpoint::own_array_for(snapshot, block, store, rank, comm.size()); });
  checkpoint::set_plain_array(store, mine, block.floats());
}

void spread_own_lists(comm::Comm& comm, const Snapshot& snapshot, const exec::StateBlocks& state) {
  std::vector<double> mine = numbers_of(state, Scope::each_rank), all;
  for (int rank = 0; rank < comm.size() && comm.rank() == 0; ++rank) {
    const std::vector<double> theirs = checkpoint::own_lists_for(snapshot, state, rank, comm.size());
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  scatter(comm, std::as_bytes(std::span(all)), std::as_writable_bytes(std::span(mine)));
  set_numbers(state, Scope::each_rank, mine);
}

// The mean of those ranks' lists, on all.
template <class T>
void average(comm::Comm& comm, std::span<const std::int64_t> counts, std::vector<T>& list) {
  std::vector<double> sum(list.size());
  double ranks = 0;
  gather(comm, std::as_bytes(std::span(list)), [&](int rank, std::span<const std::byte> theirs) {
    if (!counts[static_cast<std::size_t>(rank)]) return;
    ++ranks;
    std::ranges::transform(sum, from_bytes<T>(theirs), sum.begin(),
                           [](double a, T b) { return a + static_cast<double>(b); });
  });
  std::ranges::transform(sum, list.begin(), [&](double number) { return static_cast<T>(number / ranks); });
  broadcast(comm, list);
}

// `had` says which ranks have restored what was theirs.
void merge_own(comm::Comm& comm, std::span<const std::int64_t> had, const StateBlock& block,
               const exec::ParamStore& store) {
  const bool is_new = !had[static_cast<std::size_t>(comm.rank())];
  const bool is_array = block.is_array(Scope::each_rank);
  if (block.merge == StateBlock::Merge::sum && is_new) {  // what a rank that died had is lost
    if (is_array) std::ranges::fill(block.floats(), 0.0f);
    else set_numbers({block}, Scope::each_rank, std::vector<double>(numbers_of({block}, Scope::each_rank).size()));
  }
  if (block.merge != StateBlock::Merge::mean) return;
  if (is_array) {
    std::vector<float> plain = checkpoint::plain_array(store, block.floats());
    average(comm, had, plain);
    checkpoint::set_plain_array(store, plain, block.floats());
  } else {
    std::vector<double> numbers = numbers_of({block}, Scope::each_rank);
    average(comm, had, numbers);
    set_numbers({block}, Scope::each_rank, numbers);
  }
}

void hand_over_pieces(comm::Comm& comm, const Snapshot& mine, const StateBlock& block, const exec::ParamStore& store) {
  Snapshot whole;
  whole.origin = "the state of the ranks that are left";
  whole.whose = Snapshot::Whose::all;
  const auto had = std::ranges::find(mine.pieces, block.name, &Snapshot::OwnPieces::name);
  gather_pieces(comm, block, had == mine.pieces.end() ? Snapshot::OwnPieces{block.name} : *had, store, whole);
  spread_pieces(comm, whole, block, store);
}

}  // namespace

void gather_state(comm::Comm& comm, const exec::ParamStore& store, const exec::StateBlocks& state,
                  const OwnNumbers& mine, bool alike, Snapshot& into) {
  into.ranks = 1;
  into.statistics = mine.statistics;
  checkpoint::set_own_lists(into, state, mine.lists);
  into.pieces.clear();
  into.whose = Snapshot::Whose::all;
  for (const StateBlock& block : state)
    if (block.is_array(Scope::piece) && block.in_use)
      gather_pieces(comm, block, checkpoint::copy_pieces(block, store), store, into);
  const bool own = std::ranges::any_of(
      state, [](const StateBlock& block) { return block.scope == Scope::each_rank && block.in_use; });
  // Where they are equal on all ranks, or there are none, those of one rank do.
  if (comm.size() == 1 || (!own && (alike || mine.statistics.empty()))) return;
  into.ranks = comm.size();
  gather_rows(comm, into.statistics);
  gather_rows(comm, into.own_numbers);
  for (Snapshot::List& list : into.own_lists) gather_rows(comm, list.numbers);
  into.own_arrays.clear();
  for (const StateBlock& block : state) {
    if (!block.is_array(Scope::each_rank) || !block.in_use) continue;
    into.own_arrays.push_back({block.name, checkpoint::plain_array(store, block.floats()), block.may_drop});
    gather_rows(comm, into.own_arrays.back().numbers);
  }
}

void spread_state(comm::Comm& comm, const Snapshot& snapshot, const exec::ParamStore& store,
                  const exec::StateBlocks& state) {
  for (const StateBlock& block : state) {
    if (block.is_array(Scope::once)) broadcast(comm, std::as_writable_bytes(block.floats()));
    if (block.is_array(Scope::each_rank)) spread_own(comm, snapshot, block, store);
    if (block.is_array(Scope::piece)) spread_pieces(comm, snapshot, block, store);
  }
  std::vector<double> shared = numbers_of(state, Scope::once);
  for (double& number : shared) broadcast_object(comm, number);
  set_numbers(state, Scope::once, shared);
  spread_own_lists(comm, snapshot, state);
}

void hand_over_state(comm::Comm& comm, const Snapshot& mine, std::size_t before, const exec::ParamStore& store,
                     const exec::StateBlocks& state) {
  if (std::ranges::all_of(state, [](const StateBlock& block) { return block.scope == Scope::once; })) return;
  const std::vector<std::int64_t> had = all_gather_number(comm, mine.whose == Snapshot::Whose::nobody ? 0 : 1);
  const bool any_new = std::ranges::count(had, 0) > 0;
  const bool changed = any_new || before != had.size();
  try {
    for (const StateBlock& block : state) {
      if (block.is_array(Scope::piece)) hand_over_pieces(comm, mine, block, store);
      if (block.scope != Scope::each_rank || !changed) continue;
      if (any_new && block.start == StateBlock::Start::required && block.merge == StateBlock::Merge::none)
        fail("new ranks cannot begin without '{}', which a rank that died has taken along", block.name);
      merge_own(comm, had, block, store);
    }
  } catch (const comm::Aborted&) {
    throw;
  } catch (const Error& error) {
    throw NotInPlace(error.what());
  }
}

}  // namespace isobar::train
