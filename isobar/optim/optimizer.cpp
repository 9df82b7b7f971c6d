#include "isobar/optim/optimizer.hpp"

#include <cmath>
#include <limits>

namespace isobar::optim {

double read_below(Args& args, std::string_view key, double otherwise, double below) {
  const double value = args.real(key, otherwise);
  args.require(value >= 0 && value < below, std::isfinite(below)
                                                ? fmt::format("{} must be at least 0 and below {}", key, below)
                                                : fmt::format("{} must be finite and not negative", key));
  return value;
}

float read_epsilon(Args& args, double otherwise) {
  const double value = args.real("epsilon", otherwise);
  args.require(value >= std::numeric_limits<float>::min() && value <= 1, "epsilon must lie between 1.2e-38 and 1");
  return static_cast<float>(value);
}

Optimizer::Optimizer(Args& args, double otherwise) : base_rate_(args.real("lr", otherwise)) {
  args.require(base_rate_ > 0 && std::isfinite(base_rate_), "lr must be finite and above 0");
}

void Optimizer::expect_fit(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
                           const Step& step) const {
  expects(step.index >= 1, "steps to count from 1");
  expects(g.size() == w.size(), "a gradient as long as the weights");
  expects(slot.size() == static_cast<std::size_t>(slots()), "as many slots as the rule asks for");
  for (const auto& s : slot) expects(s.size() == w.size(), "slots as long as the weights");
}

}  // namespace isobar::optim
