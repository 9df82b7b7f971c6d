#include "isobar/tensor/initializer.hpp"

#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/base/random.hpp"

namespace isobar {
namespace {

using Law = Initializer::Law;
using Made = std::unique_ptr<Initializer>;

Made fixed(Law law, double centre, double width) {
  return std::make_unique<Initializer>(Initializer{law, centre, [width](const Fans&) { return width; }});
}

template <class Width>
Made from_fans(Law law, Width width) {
  return std::make_unique<Initializer>(Initializer{law, 0, width});
}

double spread_of(Args& args, double otherwise) {
  const double deviation = args.real("std", otherwise);
  args.require(deviation >= 0, "std must not be negative");
  return deviation;
}

constexpr Row<Initializer> constant{"constant", "one value everywhere",
                                    [](Args& args) { return fixed(Law::uniform, args.real("value", 0), 0); }};
constexpr Row<Initializer> uniform{"uniform", "uniform between low and high", [](Args& args) {
                                     const double low = args.real("low", -0.05), high = args.real("high", 0.05);
                                     args.require(low <= high, "low must not exceed high");
                                     return fixed(Law::uniform, (low + high) / 2, (high - low) / 2);
                                   }};
constexpr Row<Initializer> gaussian{"gaussian", "normal with mean and std", [](Args& args) {
                                      const double mean = args.real("mean", 0);
                                      return fixed(Law::normal, mean, spread_of(args, 0.01));
                                    }};
constexpr Row<Initializer> truncated_normal{"truncated_normal", "normal with mean and std, cut at two std",
                                            [](Args& args) {
                                              const double mean = args.real("mean", 0);
                                              return fixed(Law::truncated, mean, spread_of(args, 0.01));
                                            }};
constexpr Row<Initializer> glorot_uniform{
    "glorot_uniform", "uniform in +-sqrt(6 / (fan_in + fan_out))",
    [](Args&) { return from_fans(Law::uniform, [](const Fans& f) { return std::sqrt(6 / (f.in + f.out)); }); }};
constexpr Row<Initializer> glorot_normal{
    "glorot_normal", "normal with variance 2 / (fan_in + fan_out)",
    [](Args&) { return from_fans(Law::normal, [](const Fans& f) { return std::sqrt(2 / (f.in + f.out)); }); }};
constexpr Row<Initializer> he_uniform{
    "he_uniform", "uniform in +-sqrt(6 / fan_in)",
    [](Args&) { return from_fans(Law::uniform, [](const Fans& f) { return std::sqrt(6 / f.in); }); }};
constexpr Row<Initializer> he_normal{"he_normal", "normal with variance 2 / fan_in", [](Args&) {
                                       return from_fans(Law::normal, [](const Fans& f) { return std::sqrt(2 / f.in); });
                                     }};
constexpr Row<Initializer> torch_uniform{
    "torch_uniform", "uniform in +-1 / sqrt(fan_in)",
    [](Args&) { return from_fans(Law::uniform, [](const Fans& f) { return std::sqrt(1 / f.in); }); }};
constexpr Row<Initializer> variance_scaling{
    "variance_scaling", "normal with variance 1.3 factor / fan_in, cut at two std", [](Args& args) {
      const double factor = args.real("factor", 2);
      args.require(factor > 0, "factor must be above 0");
      return from_fans(Law::truncated, [factor](const Fans& f) { return std::sqrt(1.3 * factor / f.in); });
    }};
constexpr Row<Initializer> xavier_caffe{
    "xavier_caffe", "uniform in +-sqrt(3 / fan_in)",
    [](Args&) { return from_fans(Law::uniform, [](const Fans& f) { return std::sqrt(3 / f.in); }); }};

// A standard normal number within +-2; each attempt has its own stream of random numbers for all elements.
double truncated(const Random& random, std::uint64_t index) {
  for (std::uint64_t attempt = 0;; ++attempt)
    for (const double z : random.sub(attempt).normal_pair(index))
      if (std::abs(z) <= 2) return z;
}

}  // namespace

Fans fans(const Shape& shape) {
  if (shape.rank() == 0) return {};
  const double kernel = shape.rank() > 2 ? static_cast<double>(shape.count(2, shape.rank())) : 1;
  return {static_cast<double>(shape.count(1, shape.rank())), static_cast<double>(shape[0]) * kernel};
}

Table<Row<Initializer>> initializers() {
  static constexpr const Row<Initializer>* all[] = {&constant,  &gaussian,         &glorot_normal, &glorot_uniform,
                                                    &he_normal, &he_uniform,       &torch_uniform, &truncated_normal,
                                                    &uniform,   &variance_scaling, &xavier_caffe};
  return all;
}

void initialize(const Spec& spec, const Shape& shape, std::uint64_t seed, std::span<float> out, const Shape& counted) {
  expects(std::ssize(out) == shape.count(), "memory for every element of the weight");
  const auto made = make(initializers(), spec, "initializer");
  const double centre = made->centre, width = made->width(fans(counted.rank() > 0 ? counted : shape));
  const Random random(seed);
  for (std::uint64_t i = 0; i < out.size(); ++i) {
    double z = 0;
    switch (made->law) {
      case Law::uniform: z = 2 * random.uniform(i) - 1; break;
      case Law::normal: z = random.normal_pair(i)[0]; break;
      case Law::truncated: z = truncated(random, i); break;
    }
    out[i] = static_cast<float>(centre + width * z);
  }
}

}  // namespace isobar
