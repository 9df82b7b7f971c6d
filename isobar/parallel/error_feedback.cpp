#include "isobar/parallel/error_feedback.hpp"

#include "isobar/base/loops.hpp"

namespace isobar::parallel {

void ErrorFeedback::add_to(std::span<float> gradients, std::size_t offset) {
  take_memory();
  in_parts(gradients.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) next_[offset + i] = gradients[i] += lost_[offset + i];
  });
}

void ErrorFeedback::keep_lost(std::span<const float> sent, std::size_t offset) {
  sent_ = true;
  in_parts(sent.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) next_[offset + i] -= sent[i];
  });
}

}  // namespace isobar::parallel
