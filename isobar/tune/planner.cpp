#include "isobar/tune/planner.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isobar/base/error.hpp"
#include "isobar/graph/pass.hpp"
#include "isobar/ops/conv_pieces.hpp"
#include "isobar/tensor/engine.hpp"
#include "isobar/tune/cover.hpp"

namespace isobar::tune {
namespace {

using ops::Direction;
using Kind = ops::Slot::Kind;

constexpr double worth = 0.97;     // a gain below 3 % may be chance
constexpr double hopeless = 2.5;   // measured no further if the first run takes this many times the best time
constexpr double too_slow = 1.25;  // no smaller pieces beyond this many times the method's best time per sample

// The batch itself and the powers of two below it, largest first.
std::vector<std::int64_t> piece_sizes(std::int64_t batch) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 1; n < batch; n *= 2) sizes.push_back(n);
  sizes.push_back(batch);
  std::ranges::reverse(sizes);
  return sizes;
}

std::string key_of(const ops::ConvCase& p, Direction direction) {
  const auto& w = p.window;
  return fmt::format("{} {} {} k{} s{} d{} p{} g{} b{} a{} {} {}", static_cast<int>(direction), p.x.str(), p.y.str(),
                     fmt::join(w.kernel, ","), fmt::join(w.stride, ","), fmt::join(w.dilation, ","),
                     fmt::join(w.before, ","), p.groups, p.bias, p.after ? static_cast<int>(p.after->forward) : -1,
                     p.after ? p.after->alpha : 0.0f, layout_text(p.stored));
}

// The layout in which these kernels use the weight, or its gradient.
Layout weight_layout(std::span<const ops::Kernel> kernels) {
  for (const ops::Kernel& kernel : kernels)
    for (const auto* ports : {&kernel.reads, &kernel.writes})
      for (const ops::Port& port : *ports)
        if (port.slot.index == 1 && (port.slot.kind == Kind::x || port.slot.kind == Kind::dx)) return port.layout;
  return {};
}

bool is_usual(const ops::Setting& setting, const ops::ConvCase& problem, Direction direction,
              const ops::ConvMethod& asked) {
  for (const ops::ConvMethod* method : ops::conv_methods())
    if (method->preferred(problem, direction) && method->make(setting, problem, direction)) return method == &asked;
  return false;
}

}  // namespace

std::vector<Layer> convolutions(const graph::Graph& graph, const graph::PlanOptions& options) {
  graph::PlanOptions plain_options = options;
  plain_options.tuning = nullptr;
  const graph::Graph better = graph::improve(graph, options.without);
  std::set<std::pair<std::string, std::string>> steps;  // node and kernel
  for (const graph::PlanStep& step : graph::make_plan(graph, plain_options).steps)
    steps.emplace(step.name, step.kernel);
  std::vector<Layer> layers;
  for (const graph::Node& node : better.nodes()) {
    std::vector<ops::Operand> in;
    for (const graph::ValueId id : node.in) in.push_back({better.value(id).shape, Layout(), true});
    auto problem = ops::conv_case(*node.op, in, options.phase);
    if (!problem) continue;
    Layer layer{node.name, std::move(*problem)};
    for (const ops::Direction direction :
         {ops::Direction::forward, ops::Direction::weight_gradient, ops::Direction::data_gradient})
      if (steps.contains({node.name, std::string(direction_name(direction))})) layer.directions.push_back(direction);
    if (layer.directions.empty()) continue;
    const ops::Setting setting{cpu_engine(), options.phase};
    layer.problem.stored = conv_kernels(setting, layer.problem, ops::Direction::forward).front().reads[1].layout;
    layers.push_back(std::move(layer));
  }
  return layers;
}

Planner::Candidates Planner::measure(const Layer& layer, Direction direction, const std::atomic<bool>* stop) {
  const std::string key = key_of(layer.problem, direction);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const ops::Setting setting{cpu_engine(), layer.problem.phase};
  Candidates all;
  std::map<const ops::ConvMethod*, double> best_of;  // per sample
  double best = std::numeric_limits<double>::infinity();
  for (const std::int64_t samples : piece_sizes(layer.problem.x[0])) {
    const ops::ConvCase piece = layer.problem.of(samples);
    ops::ConvCase other = piece;
    other.stored = weight_rows(piece);
    for (const ops::ConvMethod* method : ops::conv_methods()) {
      if (stop && *stop) return {};
      const bool usual = samples == layer.problem.x[0] && is_usual(setting, piece, direction, *method);
      if (!method->exact && !options_.inexact) continue;
      const auto own = best_of.find(method);
      if (own != best_of.end() && own->second == std::numeric_limits<double>::infinity()) continue;
      const auto made = method->make(setting, piece, direction);
      if (!made) continue;
      const std::size_t workspace = ops::workspace_bytes(*made);
      if (workspace > options_.workspace && !usual) continue;
      const double limit =
          usual ? std::numeric_limits<double>::infinity() : hopeless * best * static_cast<double>(samples);
      const double seconds = timer_.time(*made, limit);
      const double per_sample = seconds / static_cast<double>(samples);
      const bool worse = own != best_of.end() && per_sample > too_slow * own->second;
      best = std::min(best, per_sample);
      best_of[method] = worse ? std::numeric_limits<double>::infinity()
                              : std::min(per_sample, own != best_of.end() ? own->second : per_sample);
      const Layout weight = weight_layout(*made);
      const auto elsewhere = method->make(setting, other, direction);
      const bool follows = elsewhere && weight_layout(*elsewhere) != weight && weight == piece.stored;
      if (std::isfinite(seconds)) all.push_back({method, samples, seconds, workspace, weight, follows});
    }
  }
  return known_[key] = all;
}

double Planner::Ways::seconds() const {
  double sum = 0;
  for (const Way& way : all) sum += way.seconds;
  return sum;
}

void Planner::add_copies(const Layout& stored, Way& way, Direction direction) {
  std::vector<Layout> seen;
  for (const Layout& weight : way.weights) {
    if (std::ranges::find(seen, weight) != seen.end()) continue;
    seen.push_back(weight);
    way.copies +=
        direction == Direction::weight_gradient ? timer_.relayout(weight, stored) : timer_.relayout(stored, weight);
  }
  way.seconds += way.copies;
}

// The best of two kinds: all pieces with the weight in one layout, for each layout; and any mixture of pieces.
Planner::Way Planner::best_way(const Layer& layer, Direction direction, const Candidates& candidates,
                               const Layout& stored) {
  const auto layout_of = [&](const Measured& m) { return m.as_stored ? stored : m.weight; };
  std::vector<std::optional<Layout>> filters{std::nullopt};
  for (const Measured& m : candidates)
    if (std::ranges::find(filters, std::optional(layout_of(m))) == filters.end()) filters.emplace_back(layout_of(m));
  Way best;
  best.seconds = std::numeric_limits<double>::infinity();
  for (const auto& filter : filters) {
    std::vector<const Measured*> used;
    std::vector<Tile> tiles;
    for (const Measured& m : candidates) {
      const bool forward_elsewhere = direction == Direction::forward && layout_of(m) != stored;
      if (m.workspace > options_.workspace || (filter && layout_of(m) != *filter) || forward_elsewhere) continue;
      used.push_back(&m);
      tiles.push_back({m.samples, m.seconds});
    }
    const Cover cover = cheapest_cover(layer.problem.x[0], tiles);
    if (cover.tiles.empty()) continue;
    Way way;
    way.seconds = cover.seconds;
    for (const std::size_t t : cover.tiles) {
      way.choice.pieces.push_back({std::string(used[t]->method->name), used[t]->samples});
      way.workspace = std::max(way.workspace, used[t]->workspace);
      way.weights.push_back(layout_of(*used[t]));
    }
    add_copies(stored, way, direction);
    if (way.seconds < best.seconds) best = std::move(way);
  }
  return best;
}

Planner::Way Planner::usual_way(const Layer& layer, Direction direction, const Candidates& candidates) {
  const ops::Setting setting{cpu_engine(), layer.problem.phase};
  for (const Measured& m : candidates) {
    if (m.samples != layer.problem.x[0] || !is_usual(setting, layer.problem, direction, *m.method)) continue;
    Way way{{{{std::string(m.method->name), m.samples}}}, m.seconds, m.workspace, {m.weight}};
    if (m.as_stored) way.weights.clear();
    add_copies(layer.problem.stored, way, direction);
    return way;
  }
  throw std::logic_error("the usual method was not measured");
}

// The fastest ways according to the measurements, over all layouts that the forward direction may give the weight.
Planner::Ways Planner::choose(const Layer& layer, const std::vector<Candidates>& candidates, const Ways& usual) {
  std::vector<Layout> layouts{layer.problem.stored};
  for (std::size_t d = 0; d < layer.directions.size(); ++d)
    for (const Measured& m : candidates[d])
      if (layer.directions[d] == Direction::forward && std::ranges::find(layouts, m.weight) == layouts.end())
        layouts.push_back(m.weight);
  std::optional<Ways> best;
  for (const Layout& stored : layouts) {
    Ways ways{stored};
    for (std::size_t d = 0; d < layer.directions.size(); ++d) {
      Way way = best_way(layer, layer.directions[d], candidates[d], stored);
      // With the usual layout of weights, the usual way of this direction stays unless another is clearly faster.
      const bool may_stay = stored == layer.problem.stored && usual.all[d].workspace <= options_.workspace;
      if (may_stay && way.seconds > worth * usual.all[d].seconds) way = usual.all[d];
      if (way.choice.pieces.empty()) way = usual.all[d];  // nothing fits into the workspace
      ways.all.push_back(std::move(way));
    }
    if (!best || ways.seconds() < best->seconds()) best = std::move(ways);
  }
  return *best;
}

// Measures the choice once more, alternating with the usual way, and keeps it where it is still faster.
void Planner::confirm(const Layer& layer, Ways& chosen, Ways& usual) {
  const ops::Setting setting{cpu_engine(), layer.problem.phase};
  ops::ConvCase problem = layer.problem;
  bool must = false;  // the usual way needs more workspace than allowed
  for (std::size_t d = 0; d < layer.directions.size(); ++d) {
    Way &now = chosen.all[d], &before = usual.all[d];
    if (now.choice == before.choice) continue;
    problem.stored = chosen.stored;
    const auto faster = chosen_kernels(setting, problem, layer.directions[d], now.choice);
    problem.stored = usual.stored;
    const auto known = chosen_kernels(setting, problem, layer.directions[d], before.choice);
    expects(faster && known, "kernels that were measured can be made again");
    const auto [seconds, seconds_before] = timer_.contest(*faster, *known);
    now.seconds = seconds + now.copies;
    before.seconds = seconds_before + before.copies;
    must = must || before.workspace > options_.workspace;
    if (before.workspace > options_.workspace) continue;
    if (layer.directions[d] == Direction::forward && chosen.stored != usual.stored) continue;  // it chose the layout
    Way back = before;
    back.seconds = seconds_before;
    back.copies = 0;
    add_copies(chosen.stored, back, layer.directions[d]);
    if (now.seconds > worth * back.seconds) now = back;
  }
  if (chosen.stored != usual.stored && !must && chosen.seconds() > worth * usual.seconds()) chosen = usual;
}

std::vector<Finding> Planner::tune(const Layer& layer, const std::atomic<bool>* stop) {
  std::vector<Candidates> candidates;
  Ways usual{layer.problem.stored};
  for (const Direction direction : layer.directions) {
    candidates.push_back(measure(layer, direction, stop));
    if (stop && *stop) return {};
    usual.all.push_back(usual_way(layer, direction, candidates.back()));
  }
  Ways chosen = choose(layer, candidates, usual);
  confirm(layer, chosen, usual);
  std::vector<Finding> findings;
  for (std::size_t d = 0; d < layer.directions.size(); ++d)
    findings.push_back({{layer.node, layer.directions[d], chosen.all[d].choice},
                        chosen.all[d].seconds,
                        usual.all[d].seconds,
                        chosen.all[d].workspace,
                        chosen.all[d].choice == usual.all[d].choice});
  return findings;
}

ops::Tuning tuning_of(const std::vector<Finding>& findings) {
  ops::Tuning tuning;
  for (const Finding& f : findings)
    if (!f.usual) tuning.set(f.chosen.node, f.chosen.direction, f.chosen.choice);
  return tuning;
}

}  // namespace isobar::tune
