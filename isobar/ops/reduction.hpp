// Reductions over any set of axes: how the elements of x are found, and the loop that folds them.
// Neighbouring axes of the same kind are merged. Work is divided by outputs and, if there are few, also along the
// reduced elements; the division depends only on the shape, so results are bitwise equal for any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "isobar/base/loops.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::ops {

/// Where the elements of a reduction are. Outputs and reduced elements are numbered in row-major order.
class Reduction {
 public:
  /// `reduced` says for every axis of x whether it is folded.
  Reduction(const Shape& x, const std::vector<bool>& reduced);

  /// Whether `run` neighbouring elements belong to as many outputs; otherwise they are folded together.
  bool inner_kept() const { return inner_kept_; }
  std::int64_t run() const { return run_; }
  std::int64_t outputs() const { return outputs_; }
  std::int64_t folded() const { return folded_; }
  std::int64_t output_base(std::int64_t group) const { return offset(kept_, group); }
  std::int64_t folded_base(std::int64_t group) const { return offset(folds_, group); }
  /// The element of x that is number `which` of the elements folded into `output`.
  std::int64_t element(std::int64_t output, std::int64_t which) const {
    if (inner_kept_) return output_base(output / run_) + output % run_ + folded_base(which);
    return output_base(output) + folded_base(which / run_) + which % run_;
  }

 private:
  struct Axis {
    std::int64_t extent, stride;
  };
  static std::int64_t offset(const std::vector<Axis>& axes, std::int64_t number) {
    std::int64_t at = 0;
    for (std::size_t i = axes.size(); i-- > 0; number /= axes[i].extent) at += number % axes[i].extent * axes[i].stride;
    return at;
  }

  bool inner_kept_ = true;
  std::int64_t run_ = 1, outputs_ = 1, folded_ = 1;
  std::vector<Axis> kept_, folds_;  // without the innermost axis, which is the run
};

/// The sum, in double precision. A fold has a State that starts as State{}, take(state, number, which), and
/// join(state, later); `which` is the number of the reduced element.
struct SumOf {
  using State = double;
  static void take(double& sum, float x, std::int64_t) { sum += static_cast<double>(x); }
  static void join(double& sum, double later) { sum += later; }
};

/// Folds x and calls store(output, state) for every output, in parallel.
template <class Fold, class Store>
void fold_axes(const Reduction& plan, const float* x, Store&& store) {
  using State = typename Fold::State;
  constexpr std::int64_t lanes = 64;
  const bool kept = plan.inner_kept();
  const std::int64_t blocks = kept ? (plan.run() + lanes - 1) / lanes : 1;  // of neighbouring outputs
  const std::int64_t units = kept ? plan.outputs() / plan.run() * blocks : plan.outputs();
  const std::int64_t cuts = kept ? 1 : (plan.run() + loop_part - 1) / loop_part;  // of a run that is folded
  const std::int64_t steps = kept ? plan.folded() : plan.folded() / plan.run() * cuts;
  const std::int64_t per_step = std::min(plan.run(), kept ? lanes : loop_part);
  const std::int64_t steps_per_part = std::clamp<std::int64_t>(loop_part / per_step, 1, steps);
  const std::int64_t parts = (steps + steps_per_part - 1) / steps_per_part;

  // One unit over one part of the steps: lane j is the j-th neighbouring output, or the j-th interleaved partial fold.
  const auto fold = [&](std::int64_t unit, std::int64_t part, std::array<State, lanes>& states) -> std::int64_t {
    states.fill(State{});
    const std::int64_t last = std::min(steps, (part + 1) * steps_per_part);
    if (kept) {
      const std::int64_t first = unit % blocks * lanes, width = std::min(lanes, plan.run() - first);
      const float* from = x + plan.output_base(unit / blocks) + first;
      for (std::int64_t s = part * steps_per_part; s < last; ++s) {
        const float* row = from + plan.folded_base(s);
        for (std::int64_t j = 0; j < width; ++j) Fold::take(states[j], row[j], s);
      }
      return width;
    }
    constexpr std::int64_t partial = 8;
    for (std::int64_t s = part * steps_per_part; s < last; ++s) {
      const std::int64_t cut = s % cuts * loop_part, length = std::min(loop_part, plan.run() - cut);
      const float* row = x + plan.output_base(unit) + plan.folded_base(s / cuts) + cut;
      const std::int64_t which = s / cuts * plan.run() + cut, whole = length / partial * partial;
      for (std::int64_t i = 0; i < whole; i += partial)
        for (std::int64_t j = 0; j < partial; ++j) Fold::take(states[j], row[i + j], which + i + j);
      for (std::int64_t i = whole; i < length; ++i) Fold::take(states[i - whole], row[i], which + i);
    }
    for (std::size_t j = 1; j < partial; ++j) Fold::join(states[0], states[j]);
    return 1;
  };
  const auto first_output = [&](std::int64_t unit) {
    return kept ? unit / blocks * plan.run() + unit % blocks * lanes : unit;
  };

  const std::int64_t work = parts > 1 ? 1 : std::max<std::int64_t>(1, loop_part / (steps * per_step));
  std::vector<std::array<State, lanes>> partials(parts > 1 ? units * parts : 0);
  in_parts(
      units * parts,
      [&](std::int64_t begin, std::int64_t end) {
        std::array<State, lanes> states;
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t width = fold(i / parts, i % parts, parts > 1 ? partials[i] : states);
          for (std::int64_t j = 0; parts == 1 && j < width; ++j) store(first_output(i) + j, states[j]);
        }
      },
      work);
  if (parts == 1) return;
  in_parts(units, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      auto& sum = partials[unit * parts];
      const std::int64_t width = kept ? std::min(lanes, plan.run() - unit % blocks * lanes) : 1;
      for (std::int64_t j = 0; j < width; ++j) {
        State& state = sum[j];
        for (std::int64_t p = 1; p < parts; ++p) Fold::join(state, partials[unit * parts + p][j]);
        store(first_output(unit) + j, state);
      }
    }
  });
}

}  // namespace isobar::ops
