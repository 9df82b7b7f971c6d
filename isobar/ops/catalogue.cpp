// The operators there are: one row from each file.
#include "isobar/ops/op.hpp"

namespace isobar::ops {

extern const OperatorRow add, average_pool, concat, conv, dense, dropout, flatten, global_pool, leaky_relu, mae,
    max_pool, mse, relu, reshape, scale, sigmoid, softmax, softmax_cross_entropy, tanh;

Table<OperatorRow> operators() {
  static constexpr const OperatorRow* all[] = {
      &add, &average_pool, &concat, &conv, &dense,   &dropout, &flatten, &global_pool, &leaky_relu,
      &mae, &max_pool,     &mse,    &relu, &reshape, &scale,   &sigmoid, &softmax,     &softmax_cross_entropy,
      &tanh};
  return all;
}

}  // namespace isobar::ops
