#include "isobar/graph/plan.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "isobar/base/instructions.hpp"
#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/graph/lower.hpp"
#include "isobar/graph/pass.hpp"
#include "isobar/graph/recompute.hpp"

namespace isobar::graph {

double Plan::flops() const {
  double sum = 0;
  for (const PlanStep& step : steps) sum += step.flops;
  return sum;
}

double Plan::again_flops() const {
  double sum = 0;
  for (const PlanStep& step : steps) sum += step.again_flops;
  return sum;
}

std::size_t Plan::again_steps() const { return std::ranges::count_if(steps, &PlanStep::again); }

std::vector<std::string> Plan::circles() const {
  std::set<std::string> names;
  for (const PlanStep& step : steps)
    if (step.talk) names.insert(step.talk->circle);
  return {names.begin(), names.end()};
}

std::size_t Plan::weight_bytes() const {
  std::size_t bytes = 0;
  for (const PlanParameter& p : parameters) bytes += stored_bytes(p);
  return bytes;
}

std::size_t stored_bytes(const PlanParameter& p) {
  const bool unused = p.layout.data.ndims == 0;
  const std::int64_t count = unused ? p.declared.shape.count() : padded_count(p.layout);
  return (count * sizeof(float) + 63) / 64 * 64;
}

std::int64_t Plan::parameter_count() const {
  std::int64_t count = 0;
  for (const PlanParameter& p : parameters)
    if (p.declared.trained) count += p.declared.shape.count();
  return count;
}

std::uint64_t Plan::fingerprint() const {
  std::uint64_t hash = hash_text(name_of(instructions()));  // the same steps round differently
  const auto add = [&](std::uint64_t part) { hash = mix(hash, part); };
  for (const PlanStep& step : steps) {
    add(hash_text(step.name + "/" + step.kernel));
    for (const Layout& layout : step.layouts) add(hash_text(layout_text(layout))), add(layout.get_size());
  }
  for (const PlanParameter& p : parameters) {
    add(hash_text(p.name + " " + p.declared.shape.str() + " " + layout_text(p.layout)));
  }
  return hash;
}

std::vector<LayerText> Plan::layers() const {
  std::vector<LayerText> all;
  for (const PlanStep& step : steps) {
    std::string text = step.kernel + " " + step.shape.str();
    for (const Layout& layout : step.layouts) text += fmt::format(" {}:{}", layout_text(layout), layout.get_size());
    all.push_back({step.name, std::move(text)});
  }
  for (const PlanParameter& p : parameters) {
    const std::string laid_out = p.layout.data.ndims == 0 ? "unused" : layout_text(p.layout);
    all.push_back({p.name, fmt::format("weight {} {}", p.declared.shape.str(), laid_out)});
  }
  return all;
}

void follow(const Plan& other, PlanOptions& options) {
  options.stored.clear();
  options.order.clear();
  for (const PlanParameter& p : other.parameters) {
    options.stored.emplace(p.name, p.layout);
    options.order.push_back(p.name);
  }
}

Plan make_plan(const Graph& graph, const PlanOptions& options) {
  const Graph better = improve(graph, options.without);
  Lowering lowering(better, options);
  lowering.forward();
  if (options.phase == ops::Phase::training) lowering.backward();
  Wishes wishes;
  Plan plan = lowering.take(wishes);
  plan.weight_copies = options.weight_copies;
  plan.gradients_in_arena = options.gradients_in_arena && options.phase == ops::Phase::training;
  if (options.memory_limit > 0) return fit_memory(plan, wishes, lowering.repeats(), options);
  plan_memory(plan, wishes, options);
  return plan;
}

// Buffers that share bytes are one piece of memory, live from the first step of any of them to the last.
IdVector<StepId, std::size_t> live_bytes(const Plan& plan) {
  const IdVector<BufferId, Buffer>& buffers = plan.buffers;
  struct Piece {
    std::size_t bytes = 0;
    StepId first{}, last{};
  };
  IdVector<BufferId, Piece> pieces(buffers.size());
  for (const BufferId b : buffers.ids()) {
    const Buffer& buffer = buffers[b];
    const bool counts = buffer.home == Home::arena || (buffer.home == Home::gradient && plan.gradients_in_arena);
    if (!counts || buffer.last < buffer.first) continue;
    BufferId root = b;
    while (buffers[root].shares_with) root = buffers[root].shares_with;
    Piece& piece = pieces[root];
    piece.first = !piece.last ? buffer.first : std::min(piece.first, buffer.first);
    piece.last = std::max(piece.last, buffer.last);
    piece.bytes = std::max(piece.bytes, buffer.bytes);
  }
  IdVector<StepId, std::size_t> live(plan.steps.size());
  for (const Piece& piece : pieces)
    if (piece.last)
      for (const StepId s : ids(piece.first, std::min(piece.last + 1, live.next()))) live[s] += piece.bytes;
  return live;
}

}  // namespace isobar::graph
