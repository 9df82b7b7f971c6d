#include "isobar/parallel/served_model.hpp"

namespace isobar::parallel {

void ServedModel::begin(std::span<const ServedParameter> parameters, std::vector<int> numbers, std::int64_t updates) {
  kept_ = KeptParameters(parameters, setting_.optimizer,
                         memory(KeptParameters::numbers_of(parameters, setting_.optimizer)));
  numbers_ = std::move(numbers);
  updates_ = updates;
}

void ServedModel::update(std::span<const float> gradients, const optim::Step& step, std::int64_t index) {
  // Weight read and written, gradient read, each slot read and written.
  const double bytes = static_cast<double>(gradients.size_bytes()) * (3 + 2 * setting_.optimizer.slots());
  update_by(bytes, [&] { kept_.update(gradients, step, index > 0 ? index : updates_); });
}

}  // namespace isobar::parallel
