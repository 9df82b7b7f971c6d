// AdamW: Adam whose weight decay acts on the weight itself, w -= r weight_decay w, and not through the moments.
#include "isobar/optim/adam.hpp"

namespace isobar::optim {

extern const Row<Optimizer> adamw{"adamw", "adam with decoupled weight decay",
                                  [](Args& args) { return make_adam(args, Decay::on_weight, 0.01); }};

}  // namespace isobar::optim
