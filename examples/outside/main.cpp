// A program that uses an installed isobar: an optimizer named by a Spec brings weights to the minimum of a parabola.
//   outside ["adam(lr=0.1)"]
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/optim/optimizer.hpp"
#include "isobar/tensor/engine.hpp"
#include "isobar/tensor/tensor.hpp"

namespace {

void descend(const isobar::Spec& spec) {
  const auto optimizer = isobar::make(isobar::optim::optimizers(), spec, "optimizer");
  const isobar::Shape shape{4, 8};
  const isobar::Tensor weight(shape), gradient(shape);
  std::vector<isobar::Tensor> memory;
  std::vector<std::span<float>> slots;
  for (int s = 0; s < optimizer->slots(); ++s) slots.push_back(memory.emplace_back(shape).span());

  isobar::optim::Step step{.learning_rate = optimizer->base_rate()};
  for (; step.index <= 500; ++step.index) {
    std::ranges::transform(weight.span(), gradient.data(), [](float w) { return 2 * (w - 3); });
    optimizer->update(weight.span(), gradient.span(), slots, step);
  }
  const float found = weight.span().back();
  fmt::print("{}: {} weights at {:.3f} on {}\n", spec.str(), weight.count(), found, isobar::isa_choice().name);
  if (!(std::abs(found - 3) < 0.05f)) isobar::fail("{} ended at {}, not near the minimum, 3", spec.str(), found);
}

}  // namespace

int main(int count, char** words) {
  try {
    descend(count > 1 ? words[1] : "adam(lr=0.1)");
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "outside: {}\n", error.what());
    return 1;
  }
}
