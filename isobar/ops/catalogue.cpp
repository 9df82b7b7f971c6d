// The operators there are: one row from each file.
#include "isobar/ops/op.hpp"

namespace isobar::ops {

extern const OperatorRow add;                    // add.cpp
extern const OperatorRow average_pool;           // average_pool.cpp
extern const OperatorRow batch_norm;             // batch_norm.cpp
extern const OperatorRow concat;                 // concat.cpp
extern const OperatorRow conv;                   // conv.cpp
extern const OperatorRow deconv;                 // deconv.cpp
extern const OperatorRow dense;                  // dense.cpp
extern const OperatorRow dropout;                // dropout.cpp
extern const OperatorRow flatten;                // flatten.cpp
extern const OperatorRow global_pool;            // global_pool.cpp
extern const OperatorRow layer_norm;             // layer_norm.cpp
extern const OperatorRow leaky_relu;             // leaky_relu.cpp
extern const OperatorRow log_softmax;            // log_softmax.cpp
extern const OperatorRow lrn;                    // lrn.cpp
extern const OperatorRow mae;                    // mae.cpp
extern const OperatorRow matmul;                 // matmul.cpp
extern const OperatorRow max_pool;               // max_pool.cpp
extern const OperatorRow mse;                    // mse.cpp
extern const OperatorRow relu;                   // relu.cpp
extern const OperatorRow reshape;                // reshape.cpp
extern const OperatorRow scale;                  // scale.cpp
extern const OperatorRow sigmoid;                // sigmoid.cpp
extern const OperatorRow softmax;                // softmax.cpp
extern const OperatorRow softmax_cross_entropy;  // softmax_cross_entropy.cpp
extern const OperatorRow tanh;                   // tanh.cpp

Table<OperatorRow> operators() {
  static constexpr const OperatorRow* all[] = {
      &add,      &average_pool, &batch_norm, &concat,     &conv,        &deconv,  &dense,   &dropout,
      &flatten,  &global_pool,  &layer_norm, &leaky_relu, &log_softmax, &lrn,     &mae,     &matmul,
      &max_pool, &mse,          &relu,       &reshape,    &scale,       &sigmoid, &softmax, &softmax_cross_entropy,
      &tanh};
  return all;
}

}  // namespace isobar::ops
