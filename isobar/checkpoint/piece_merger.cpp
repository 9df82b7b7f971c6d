#include "isobar/checkpoint/piece_merger.hpp"

#include <algorithm>
#include <functional>

#include "isobar/base/error.hpp"
#include "isobar/checkpoint/plain_layout.hpp"

namespace isobar::checkpoint {
namespace {

using exec::StateBlock;
using Cut = StateBlock::Cut;

std::size_t numbers_in(std::span<const Cut> cuts) {
  std::size_t count = 0;
  for (const Cut& cut : cuts) count += cut.count;
  return count;
}

// Calls visit(place in `whole`, place in the cuts' numbers, count) for what cuts have of a part of the whole.
void each_overlap(std::span<const Cut> cuts, const Cut& whole,
                  const std::function<void(std::size_t from, std::size_t at, std::size_t count)>& visit) {
  std::size_t at = 0;
  for (const Cut& cut : cuts) {
    const std::size_t begin = std::max(cut.begin, whole.begin);
    const std::size_t end = std::min(cut.begin + cut.count, whole.begin + whole.count);
    if (begin < end) visit(begin - whole.begin, at + begin - cut.begin, end - begin);
    at += cut.count;
  }
}

Cut stored_place(const exec::ParamStore& store, int p) { return {store.offset(p), store.gradient(p).size()}; }

bool touches(std::span<const Cut> cuts, const Cut& whole) {
  bool any = false;
  each_overlap(cuts, whole, [&](std::size_t, std::size_t, std::size_t) { any = true; });
  return any;
}

// What a weight of the block begins with, in plain layout.
std::vector<float> beginning(const StateBlock& block, const exec::ParamStore& store, int p) {
  std::vector<float> plain(plain_count(store, p));
  if (block.start == StateBlock::Start::weights) store.read_plain(p, store.weight(p), plain);
  if (block.start == StateBlock::Start::slots) store.read_plain(p, store.slot(p, block.slot), plain);
  return plain;
}

// Whether cuts need a number of a weight which is not there: in plain layout, 1 stands for what is.
bool lacks(const exec::ParamStore& store, int p, std::span<const Cut> cuts, std::span<const float> there) {
  const Cut place = stored_place(store, p);
  std::vector<float> all(place.count), some(place.count);
  store.write_plain(p, std::vector<float>(there.size(), 1), all);  // padding is never there
  store.write_plain(p, there, some);
  bool lacking = false;
  each_overlap(cuts, place, [&](std::size_t from, std::size_t, std::size_t count) {
    for (std::size_t i = from; i < from + count; ++i) lacking |= all[i] != some[i];
  });
  return lacking;
}

[[noreturn]] void refuse_gap(const std::string& origin, const StateBlock& block, const std::string& weight) {
  fail("{}: no rank had all numbers of '{}' for '{}', and they are required; resume with a checkpoint that has them",
       origin, block.name, weight);
}

}  // namespace

std::string piece_name(const StateBlock& block, const std::string& weight) {
  return fmt::format("pieces/{}/{}/{}", block.may_drop ? "droppable" : "kept", block.name, weight);
}

Snapshot::OwnPieces copy_pieces(const StateBlock& block, const exec::ParamStore& store) {
  expects(numbers_in(block.cuts) == block.floats().size(), "as many numbers as the cuts of a block have");
  Snapshot::OwnPieces mine{block.name};
  std::size_t first = 0;
  for (int p = 0; p < store.count(); first += plain_count(store, p), ++p) {
    const Cut place = stored_place(store, p);
    if (!touches(block.cuts, place)) continue;
    std::vector<float> stored(place.count), there(place.count), plain(plain_count(store, p)), had(plain.size());
    each_overlap(block.cuts, place, [&](std::size_t to, std::size_t at, std::size_t count) {
      std::ranges::copy(block.floats().subspan(at, count), stored.begin() + static_cast<std::ptrdiff_t>(to));
      std::fill_n(there.begin() + static_cast<std::ptrdiff_t>(to), count, 1.0f);
    });
    store.read_plain(p, stored, plain);
    store.read_plain(p, there, had);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (had[i] == 0) continue;
      if (mine.cuts.empty() || mine.cuts.back().begin + mine.cuts.back().count != first + i)
        mine.cuts.push_back({first + i, 0});
      ++mine.cuts.back().count;
      mine.numbers.push_back(plain[i]);
    }
  }
  return mine;
}

PieceMerger::PieceMerger(const StateBlock& block, const exec::ParamStore& store)
    : block_(block), store_(store), numbers_(plain_count(store)), how_many_(numbers_.size()) {}

void PieceMerger::add(const Snapshot::OwnPieces& pieces) {
  expects(numbers_in(pieces.cuts) == pieces.numbers.size(), "as many numbers as the cuts have");
  std::size_t at = 0;
  for (const Cut& cut : pieces.cuts)
    for (std::size_t i = cut.begin; i < cut.begin + cut.count; ++i) {
      const float theirs = pieces.numbers[at++];
      float& number = numbers_.at(i);
      const int others = how_many_[i]++;
      if (others == 0) number = theirs;
      else if (block_.merge == StateBlock::Merge::sum) number += theirs;
      // Equal numbers have exactly that as their mean.
      else if (block_.merge == StateBlock::Merge::mean) number += (theirs - number) / static_cast<float>(others + 1);
    }
}

void PieceMerger::append_to(Snapshot& into) const {
  std::size_t first = 0;
  for (int p = 0; p < store_.count(); first += plain_count(store_, p), ++p) {
    const auto how_many = std::span(how_many_).subspan(first, plain_count(store_, p));
    const std::string& weight = store_.parameter(p).name;
    const auto missing = std::ranges::count(how_many, 0);
    if (missing == std::ssize(how_many)) continue;
    if (missing > 0 && block_.start == StateBlock::Start::required && store_.parameter(p).declared.trained)
      refuse_gap(into.origin, block_, weight);
    into.parts.push_back(
        {piece_name(block_, weight), store_.parameter(p).declared.shape, into.numbers.size(), how_many.size()});
    const std::vector<float> otherwise = beginning(block_, store_, p);
    for (std::size_t i = 0; i < how_many.size(); ++i)
      into.numbers.push_back(how_many[i] > 0 ? numbers_[first + i] : otherwise[i]);
  }
}

std::vector<float> pieces_for(std::span<const Cut> cuts, const StateBlock& block, const Snapshot& snapshot,
                              const exec::ParamStore& store) {
  std::vector<float> content(numbers_in(cuts));
  const auto mine = std::ranges::find(snapshot.pieces, block.name, &Snapshot::OwnPieces::name);
  std::size_t first = 0;
  for (int p = 0; p < store.count(); first += plain_count(store, p), ++p) {
    const Cut place = stored_place(store, p);
    if (!touches(cuts, place)) continue;
    std::vector<float> plain = beginning(block, store, p), there(plain.size());
    if (const Snapshot::Part* const part = snapshot.find(piece_name(block, store.parameter(p).name))) {
      if (part->shape != store.parameter(p).declared.shape)
        fail("{}: '{}' is {}, the network expects {}", snapshot.origin, part->name, part->shape.str(),
             store.parameter(p).declared.shape.str());
      std::ranges::copy(snapshot.values(*part), plain.begin());
      std::ranges::fill(there, 1.0f);
    } else if (mine != snapshot.pieces.end()) {
      each_overlap(mine->cuts, {first, plain.size()}, [&](std::size_t to, std::size_t at, std::size_t count) {
        std::ranges::copy(std::span(mine->numbers).subspan(at, count), plain.begin() + static_cast<std::ptrdiff_t>(to));
        std::fill_n(there.begin() + static_cast<std::ptrdiff_t>(to), count, 1.0f);
      });
    }
    if (block.start == StateBlock::Start::required && snapshot.whose == Snapshot::Whose::all &&
        store.parameter(p).declared.trained && lacks(store, p, cuts, there))
      refuse_gap(snapshot.origin, block, store.parameter(p).name);
    std::vector<float> stored(place.count);
    store.write_plain(p, plain, stored);
    each_overlap(cuts, place, [&](std::size_t from, std::size_t at, std::size_t count) {
      std::ranges::copy(std::span(stored).subspan(from, count), content.begin() + static_cast<std::ptrdiff_t>(at));
    });
  }
  return content;
}

}  // namespace isobar::checkpoint
