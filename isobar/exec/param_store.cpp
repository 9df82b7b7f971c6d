#include "isobar/exec/param_store.hpp"

#include <cstring>
#include <sys/mman.h>

#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/tensor/engine.hpp"
#include "isobar/tensor/initializer.hpp"

namespace isobar::exec {
namespace {

constexpr std::size_t float_alignment = 16;  // 64 bytes

// Whole pages are returned to the system and come back as zeros on first use, so gradients and slots take no memory
// while the weights are initialised, which needs a second copy of the largest weight.
Block zeroed(std::size_t floats) {
  Block block(floats * sizeof(float));
  constexpr std::size_t page = 4096;
  const std::size_t whole = block.size() / page * page;
  const bool aligned = reinterpret_cast<std::uintptr_t>(block.data()) % page == 0;
  const bool given_back = aligned && whole > 0 && madvise(block.data(), whole, MADV_DONTNEED) == 0;
  const std::size_t done = given_back ? whole : 0;
  if (block.data()) std::memset(block.data() + done, 0, block.size() - done);
  return block;
}

std::size_t aligned(std::size_t floats) { return (floats + float_alignment - 1) / float_alignment * float_alignment; }

graph::PlanParameter with_layout(graph::PlanParameter p) {
  if (p.layout.data.ndims == 0) p.layout = plain(p.declared.shape);  // never read by any kernel
  return p;
}

// The plain row-major layout with the axes of `stored` (where groups are a separate axis).
Layout plain_like(const Layout& stored) { return plain(Shape(stored.dims())); }

void copy_between(const Layout& from_layout, const float* from, const Layout& to_layout, float* to) {
  const dnnl::engine& engine = cpu_engine();
  dnnl::stream stream(engine);
  dnnl::memory a(from_layout, engine, const_cast<float*>(from));
  dnnl::memory b(to_layout, engine, to);
  dnnl::reorder(a, b).execute(stream, a, b);
  stream.wait();
}

}  // namespace

ParamStore::ParamStore(const graph::Plan& plan, int slots, std::span<float> gradients) : slots_(slots) {
  const std::vector<GradientPlace> places = gradient_places(plan);
  for (std::size_t p = 0; p < places.size(); ++p)
    entries_.push_back({with_layout(plan.parameters[graph::ParameterId(p)]), places[p].offset, places[p].count});
  if (!places.empty()) total_ = aligned(places.back().offset + places.back().count);
  weights_ = zeroed(total_);
  if (gradients.empty()) own_gradients_ = zeroed(total_);
  expects(gradients.empty() || gradients.size() == total_, "memory for all gradients");
  gradients_ = gradients.empty() ? reinterpret_cast<float*>(own_gradients_.data()) : gradients.data();
  for (int s = 0; s < slots; ++s) slot_blocks_.push_back(zeroed(total_));
}

std::size_t ParamStore::gradient_floats(const graph::Plan& plan) { return plan.weight_bytes() / sizeof(float); }

std::vector<GradientPlace> ParamStore::gradient_places(const graph::Plan& plan) {
  std::vector<GradientPlace> places;
  std::size_t offset = 0;
  for (const graph::PlanParameter& p : plan.parameters) {
    const std::size_t count = padded_count(with_layout(p).layout);
    places.push_back({offset, count, p.declared.trained});
    offset += aligned(count);
  }
  return places;
}

int ParamStore::find(const std::string& name) const {
  for (int p = 0; p < count(); ++p)
    if (parameter(p).name == name) return p;
  return -1;
}

std::span<float> ParamStore::all_gradients() const { return {gradients_, total_}; }

std::span<float> ParamStore::all_weights() const { return {reinterpret_cast<float*>(weights_.data()), total_}; }

std::span<float> ParamStore::all_slots(int s) const {
  return {reinterpret_cast<float*>(slot_blocks_[s].data()), total_};
}

void ParamStore::initialize(std::uint64_t seed) {
  std::vector<float> plain_values;
  for (int p = 0; p < count(); ++p) {
    const graph::PlanParameter& parameter = this->parameter(p);
    if (parameter.declared.values) {
      write_plain(p, *parameter.declared.values, weight(p));
      continue;
    }
    plain_values.resize(parameter.declared.shape.count());
    isobar::initialize(parameter.declared.init, parameter.declared.shape, mix(seed, hash_text(parameter.name)),
                       plain_values, parameter.declared.fans);
    write_plain(p, plain_values, weight(p));
  }
}

void ParamStore::read_plain(int p, std::span<const float> stored, std::span<float> values) const {
  const Layout& layout = parameter(p).layout;
  expects(std::ssize(values) == parameter(p).declared.shape.count(), "room for the plain weight");
  copy_between(layout, stored.data(), plain_like(layout), values.data());
}

void ParamStore::write_plain(int p, std::span<const float> values, std::span<float> stored) const {
  const Layout& layout = parameter(p).layout;
  expects(std::ssize(values) == parameter(p).declared.shape.count(), "the plain weight");
  copy_between(plain_like(layout), values.data(), layout, stored.data());
}

std::map<std::string, Layout> ParamStore::layouts() const {
  std::map<std::string, Layout> map;
  for (const Entry& e : entries_) map[e.parameter.name] = e.parameter.layout;
  return map;
}

std::span<float> arena_gradients(const graph::Plan& plan, const Block& arena) {
  if (!plan.gradients_in_arena) return {};
  expects(arena.size() >= plan.arena_bytes, "an arena for the whole plan");
  return {reinterpret_cast<float*>(arena.data() + plan.gradient_offset), ParamStore::gradient_floats(plan)};
}

std::size_t ParamStore::bytes() const { return (2 + slots_) * weights_.size(); }

}  // namespace isobar::exec
