#include "isobar/tensor/squash.hpp"

namespace isobar {

Squash squash_of(std::string_view loss) {
  if (loss == "softmax_cross_entropy" || loss == "focal") return Squash::softmax;
  if (loss == "nll") return Squash::exponential;
  return loss == "sigmoid_cross_entropy" ? Squash::sigmoid : Squash::none;
}

}  // namespace isobar
