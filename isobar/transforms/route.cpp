// FieldRoute: which transform acts on which field, from which memory to which; decided once per data set, followed for
// every sample.
#include <algorithm>
#include <array>
#include <utility>

#include "isobar/transforms/pipeline.hpp"

namespace isobar::transforms {
namespace {

constexpr std::uint64_t stream = 0x7a;  // of random numbers, separate from those of shuffling and dropout

// A reader's memory for the shapes between the first and the last.
struct Scratch {
  std::vector<std::array<std::vector<float>, 2>> memory;
  std::vector<std::span<float>> at;
};

Random random_of(const datasets::Reading& reading, std::int64_t index) {
  return Random(reading.seed, stream).sub(reading.epoch).sub(index);
}

bool same_places(const Grid& a, const Grid& b) {
  return a.places == b.places && a.places <= a.shape.rank() && a.places <= b.shape.rank() &&
         std::equal(a.shape.extents().begin(), a.shape.extents().begin() + a.places, b.shape.extents().begin());
}

// The fields of a data set before the first transform. A field with the places of x, such as a map of classes, need not
// have channels; otherwise the last of three or more axes is the channels.
std::vector<Grid> grids_of(const datasets::Dataset& source) {
  std::vector<Grid> grids;
  for (const datasets::Field& field : source.fields()) {
    const int rank = field.shape.rank();
    Grid grid{.name = field.name, .shape = field.shape, .exact = field.name != "x"};
    grid.places = rank < 2 ? 0 : std::max(2, rank - 1);
    if (!grids.empty() && rank > 1) {
      const int own = std::exchange(grid.places, grids[0].places);
      if (!same_places(grid, grids[0])) grid.places = own;
    }
    grids.push_back(std::move(grid));
  }
  grids[0].channels = source.channels();
  expects(grids[0].channels.empty() || std::ssize(grids[0].channels) == grids[0].shape[-1],
          "a name for every channel of x, or none");
  if (grids.size() > 1) grids[1].classes = source.classes();
  return grids;
}

}  // namespace

FieldRoute::FieldRoute(const Pipeline& pipeline, std::size_t count, const datasets::Dataset& source)
    : grids_(grids_of(source)) {
  for (const Grid& grid : grids_) sources_.push_back(grid.shape);
  for (std::size_t i = 0; i < count; ++i) {
    const Pipeline::Step& step = pipeline.steps_[i];
    const std::size_t main = step.field_of(grids_);
    const Grid before = grids_[main];
    add(step, i, main);
    if (!step.transform->moves()) continue;
    for (std::size_t f = 0; f < grids_.size(); ++f) {
      if (f == main || grids_[f].shape.rank() < 2) continue;
      if (!same_places(grids_[f], before))
        fail("transform '{}': moves the numbers of '{}', {}; field '{}' is {} and would no longer fit it", step.name,
             before.name, before.shape.str(), grids_[f].name, grids_[f].shape.str());
      add(step, i, f);
    }
  }
  whole_ = whole_trip();
}

void FieldRoute::add(const Pipeline::Step& step, std::size_t number, std::size_t field) {
  const Grid before = grids_[field];
  grids_[field] = step.transform->infer(before);
  const bool stays = grids_[field].shape == before.shape && step.transform->in_place();
  acts_.push_back({number, field, step.transform.get(), before, grids_[field].shape, stays});
}

FieldRoute::Trip FieldRoute::whole_trip() const {
  Trip trip{.whole = true};
  for (const Shape& shape : sources_) trip.region.push_back(Box::whole(shape));
  for (std::size_t a = 0; a < acts_.size(); ++a)
    trip.legs.push_back({acts_[a].field, a, Box::whole(acts_[a].grid.shape), Box::whole(acts_[a].after)});
  place(trip);
  return trip;
}

// Backwards: from the wanted part of each field to what it is made from.
FieldRoute::Trip FieldRoute::trip_to(std::span<const Box> region, const Drawing& draw) const {
  Trip trip;
  trip.region.assign(region.begin(), region.end());
  for (std::size_t a = acts_.size(); a-- > 0;) {
    const Act& act = acts_[a];
    Box& wanted = trip.region[act.field];
    if (wanted.count() == 0) {
      wanted = Box::none(act.grid.shape);
      continue;
    }
    if (std::optional<Box> from = act.transform->source(act.grid, wanted, draw(act.step))) {
      trip.legs.push_back({act.field, a, *from, std::move(wanted)});
      wanted = *std::move(from);
      continue;
    }
    if (!wanted.is_whole(act.after))
      trip.legs.push_back({act.field, std::nullopt, Box::whole(act.after), std::move(wanted)});
    wanted = Box::whole(act.grid.shape);
    trip.legs.push_back({act.field, a, wanted, Box::whole(act.after)});
  }
  std::ranges::reverse(trip.legs);
  place(trip);
  return trip;
}

// After its last change of memory, a field is in its final place.
void FieldRoute::place(Trip& trip) const {
  trip.begins.assign(grids_.size(), Place::out);
  for (std::size_t f = 0; f < grids_.size(); ++f) {
    std::vector<Leg*> changes;
    for (Leg& leg : trip.legs)
      if (leg.field == f && !(leg.act && acts_[*leg.act].stays)) changes.push_back(&leg);
    if (changes.empty()) continue;
    trip.begins[f] = Place::first;
    for (std::size_t k = 0; k < changes.size(); ++k) changes[k]->to_place = k % 2 == 0 ? Place::second : Place::first;
    changes.back()->to_place = Place::out;
  }
}

void FieldRoute::travel(const Trip& trip, const datasets::Dataset& source, const datasets::Reading& reading,
                        std::int64_t index, std::span<const std::span<float>> out) const {
  // Taken while reading: the source may itself read through a route.
  thread_local Scratch kept;
  Scratch scratch = std::exchange(kept, {});
  scratch.memory.resize(std::max(scratch.memory.size(), grids_.size()));
  const auto memory = [&](std::size_t field, Place place, std::size_t size) -> std::span<float> {
    if (place == Place::out) return out[field];
    std::vector<float>& piece = scratch.memory[field][place == Place::first ? 0 : 1];
    if (piece.size() < size) piece.resize(size);
    return {piece.data(), size};
  };
  scratch.at.clear();
  for (std::size_t f = 0; f < grids_.size(); ++f)
    scratch.at.push_back(memory(f, trip.begins[f], trip.region[f].count()));
  if (trip.whole) source.read_varied(reading, index, scratch.at);
  else source.read_region(reading, index, trip.region, scratch.at);
  const Random sample = random_of(reading, index);
  for (const Leg& leg : trip.legs) {
    std::span<float>& at = scratch.at[leg.field];
    const bool stays = leg.act && acts_[*leg.act].stays;
    const std::span<float> to = stays ? at : memory(leg.field, leg.to_place, leg.to.count());
    if (leg.act) {
      const Act& act = acts_[*leg.act];
      act.transform->apply({act.grid, leg.from, leg.to}, at, to, {reading.training, sample.sub(act.step)});
    } else {
      copy_box(leg.from, at, leg.to, to);
    }
    at = to;
  }
  kept = std::move(scratch);
}

void FieldRoute::read(const datasets::Dataset& source, const datasets::Reading& reading, std::int64_t index,
                      std::span<const std::span<float>> out) const {
  travel(whole_, source, reading, index, out);
}

void FieldRoute::read_region(const datasets::Dataset& source, const datasets::Reading& reading, std::int64_t index,
                             std::span<const Box> region, std::span<const std::span<float>> out) const {
  const Random sample = random_of(reading, index);
  Draw draw{reading.training, sample};
  const auto drawn = [&](std::size_t step) {
    draw.random = sample.sub(step);
    return &draw;
  };
  travel(trip_to(region, drawn), source, reading, index, out);
}

datasets::Region FieldRoute::reach(std::span<const Box> region) const {
  return trip_to(region, [](std::size_t) { return nullptr; }).region;
}

}  // namespace isobar::transforms
