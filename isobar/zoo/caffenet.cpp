// caffenet: Caffe's bvlc_reference_caffenet, AlexNet's layers with pooling before normalisation and biases that start
// at 1. 60,965,224 parameters and 724.4 M multiply-adds at 227 x 227 x 3.
#include "isobar/zoo/alexnet.hpp"

namespace isobar::zoo {

extern const Row<Network> caffenet;
const Row<Network> caffenet{
    "caffenet", "Caffe's reference network: AlexNet with pooling before normalisation",
    [](Args& args) -> std::unique_ptr<Network> { return make_alexnet(args, {.pool_first = true, .bias = 1}); }};

}  // namespace isobar::zoo
