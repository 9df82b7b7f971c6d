// LAMB (You et al., 2020) as in Apex's FusedLAMB. Slots m, v; with rate r, decay c and step t counted from 1:
//   m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2;   m^ = m / (1 - beta1^t),  v^ = v / (1 - beta2^t)
//   u = m^ / (sqrt(v^) + epsilon) + c w;   w -= r ratio u,   ratio = |w| / |u|, or 1 if one of them is 0
// Parameters without decay (c = 0) keep the ratio 1, unless adapt=all (Apex's use_nvlamb). FusedLAMB also limits the
// norm of all gradients together to 1; here the step's clip_norm does that, since a rule sees one parameter at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isobar/base/loops.hpp"
#include "isobar/optim/norm.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::optim {
namespace {

struct TwoSums {
  double first = 0, second = 0;
  TwoSums& operator+=(const TwoSums& other) { return first += other.first, second += other.second, *this; }
};

class Lamb final : public Optimizer {
 public:
  explicit Lamb(Args& args)
      : Optimizer(args, 0.001),
        beta1_(read_below(args, "beta1", 0.9, 1)),
        beta2_(read_below(args, "beta2", 0.999, 1)),
        epsilon_(read_epsilon(args, 1e-6)),
        decay_(read_below(args, "weight_decay", 0.01, std::numeric_limits<double>::infinity())),
        corrects_(args.flag("bias_correction", true)),
        adapts_all_(args.one_of("adapt", "decayed", {"all", "decayed"}) == "all") {}

  int slots() const override { return 2; }
  bool needs_whole() const override { return adapts_all_ || decay_ > 0; }

  void update(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
              const Step& step) const override {
    expect_fit(w, g, slot, step);
    const auto t = static_cast<double>(step.index);
    Change change;
    change.w = w.data();
    change.m = slot[0].data();
    change.v = slot[1].data();
    change.mean_scale = static_cast<float>(corrects_ ? 1 / (1 - std::pow(beta1_, t)) : 1);
    change.root_scale = static_cast<float>(corrects_ ? 1 / std::sqrt(1 - std::pow(beta2_, t)) : 1);
    change.epsilon = epsilon_;
    change.decay = static_cast<float>(decay_ * step.decay_scale);
    const TwoSums sums = move_moments(change, g, static_cast<float>(step.gradient_scale));
    const bool adapts = (adapts_all_ || change.decay != 0) && sums.first > 0 && sums.second > 0;
    const double ratio = adapts ? std::sqrt(sums.first / sums.second) : 1;
    const auto rate = static_cast<float>(step.rate() * ratio);
    in_parts(w.size(), [=](std::size_t begin, std::size_t end) { apply(change, rate, begin, end); });
  }

 private:
  // What both passes read; passed by value, so that it stays in registers. The second pass recomputes u from the
  // moments, which is cheaper than storing all of it.
  struct Change {
    float *w, *m, *v;
    float mean_scale, root_scale, epsilon, decay;
    float at(std::size_t i) const {
      return mean_scale * m[i] / (root_scale * std::sqrt(v[i]) + epsilon) + decay * w[i];
    }
  };

  struct Moments {
    const float* g;
    float scale, keep1, take1, keep2, take2;
  };

  // Updates the moments of [begin, end) and writes u.
  static void move(const Change change, const Moments moments, std::size_t begin, std::size_t end, float* u) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) {
      const float d = moments.scale * moments.g[i];
      change.m[i] = moments.keep1 * change.m[i] + moments.take1 * d;
      change.v[i] = moments.keep2 * change.v[i] + moments.take2 * (d * d);
      u[i - begin] = change.at(i);
    }
  }

  static void apply(const Change change, float rate, std::size_t begin, std::size_t end) {
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) change.w[i] -= rate * change.at(i);
  }

  // Updates all moments and returns the squares of |w| and |u|.
  TwoSums move_moments(const Change& change, std::span<const float> g, float scale) const {
    const Moments moments{g.data(),
                          scale,
                          static_cast<float>(beta1_),
                          static_cast<float>(1 - beta1_),
                          static_cast<float>(beta2_),
                          static_cast<float>(1 - beta2_)};
    return ordered_sum<TwoSums>(g.size(), [=](std::size_t begin, std::size_t end) {
      TwoSums sums;
      std::array<float, 1024> u;
      for (std::size_t next = 0; begin < end; begin = next) {
        next = std::min(end, begin + u.size());
        move(change, moments, begin, next, u.data());
        sums.first += squares({change.w + begin, next - begin});
        sums.second += squares({u.data(), next - begin});
      }
      return sums;
    });
  }

  double beta1_, beta2_;
  float epsilon_;
  double decay_;
  bool corrects_, adapts_all_;
};

}  // namespace

extern const Row<Optimizer> lamb{"lamb", "adamw's step of each layer, scaled to the norm of its weights",
                                 make_member<Lamb>};

}  // namespace isobar::optim
