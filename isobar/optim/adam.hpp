// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019), which differ only in the weight decay.
#pragma once

#include "isobar/optim/optimizer.hpp"

namespace isobar::optim {

/// Where the weight decay acts: in the gradient, and so through the moments, or on the weight itself.
enum class Decay { in_gradient, on_weight };

/// Reads lr, beta1, beta2, epsilon, form and weight_decay.
std::unique_ptr<Optimizer> make_adam(Args& args, Decay kind, double default_decay);

}  // namespace isobar::optim
