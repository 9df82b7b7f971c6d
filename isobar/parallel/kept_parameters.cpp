#include "isobar/parallel/kept_parameters.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::parallel {

std::size_t KeptParameters::numbers_of(std::span<const ServedParameter> parameters, const optim::Optimizer& optimizer) {
  std::size_t numbers = 0;
  for (const ServedParameter& each : parameters)
    numbers += each.count * static_cast<std::size_t>(each.trained ? 1 + optimizer.slots() : 1);
  return numbers;
}

KeptParameters::KeptParameters(std::span<const ServedParameter> parameters, const optim::Optimizer& optimizer,
                               std::unique_ptr<comm::GradientMemory> memory)
    : optimizer_(&optimizer), memory_(std::move(memory)) {
  if (!memory_) memory_ = std::make_unique<comm::GradientMemory>(numbers_of(parameters, optimizer));
  std::span<float> rest = memory_->mine();
  const auto next = [&](std::size_t count) {
    const std::span<float> part = rest.first(count);
    rest = rest.subspan(count);
    return part;
  };
  for (const ServedParameter& each : parameters) {
    (each.trained ? trained_ : statistics_) += each.count;
    all_.push_back({each, next(each.count)});
    for (int slot = 0; each.trained && slot < optimizer.slots(); ++slot) all_.back().slots.push_back(next(each.count));
  }
  expects(rest.empty(), "memory for all of the state, and no more");
}

void KeptParameters::update(std::span<const float> gradients, const optim::Step& at, std::int64_t index) {
  expects(gradients.size() == trained_, "a gradient for all that is trained");
  for (Kept& each : all_) {
    if (!each.parameter.trained) continue;
    optim::Step step = at;
    step.index = index;
    step.rate_scale *= each.parameter.rate_scale;
    step.decay_scale *= each.parameter.decay_scale;
    optimizer_->update(each.weight, gradients.first(each.parameter.count), each.slots, step);
    gradients = gradients.subspan(each.parameter.count);
  }
}

void KeptParameters::set_statistics(const std::vector<std::span<const float>>& by_worker) {
  std::vector<double> sum(statistics_);
  double senders = 0;
  for (const std::span<const float> theirs : by_worker) {
    if (theirs.empty()) continue;
    ++senders;
    for (std::size_t i = 0; i < statistics_; ++i) sum[i] += static_cast<double>(theirs[i]);
  }
  if (senders == 0) return;
  std::size_t at = 0;
  for (Kept& each : all_)
    if (!each.parameter.trained)
      for (float& number : each.weight) number = static_cast<float>(sum[at++] / senders);
}

std::vector<std::span<float>> KeptParameters::state() {
  std::vector<std::span<float>> list;
  for (Kept& each : all_) {
    list.emplace_back(each.weight);
    list.insert(list.end(), each.slots.begin(), each.slots.end());
  }
  return list;
}

void KeptParameters::copy_trained_weights(std::span<float> into) const {
  expects(into.size() == trained_, "room for all that is trained");
  for (const Kept& each : all_) {
    if (!each.parameter.trained) continue;
    std::ranges::copy(each.weight, into.begin());
    into = into.subspan(each.weight.size());
  }
}

}  // namespace isobar::parallel
