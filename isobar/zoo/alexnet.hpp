// AlexNet and CaffeNet: one table of layers, two orders of pooling and normalisation.
#pragma once

#include "isobar/zoo/network.hpp"

namespace isobar::zoo {

/// What distinguishes the two networks of Caffe's model collection.
struct AlexNetKind {
  bool pool_first;  ///< pooling before normalisation, which then works on the smaller map
  double bias;      ///< initial value of the biases of conv2, conv4, conv5, fc6 and fc7; the others start at 0
};

/// Makes either network; reads the arguments that both have.
std::unique_ptr<Network> make_alexnet(Args& args, AlexNetKind kind);

}  // namespace isobar::zoo
