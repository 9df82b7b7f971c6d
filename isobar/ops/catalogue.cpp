// All operators: rows from the files named beside them.
#include "isobar/ops/op.hpp"

namespace isobar::ops {

extern const OperatorRow add;                    // add.cpp
extern const OperatorRow all_gather;             // all_gather.cpp
extern const OperatorRow all_reduce;             // all_reduce.cpp
extern const OperatorRow attention;              // attention.cpp
extern const OperatorRow average_pool;           // pool.cpp
extern const OperatorRow batch_norm;             // batch_norm.cpp
extern const OperatorRow clip;                   // eltwise.cpp
extern const OperatorRow concat;                 // concat.cpp
extern const OperatorRow conv;                   // conv.cpp
extern const OperatorRow deconv;                 // deconv.cpp
extern const OperatorRow dense;                  // dense.cpp
extern const OperatorRow depth_to_space;         // block_shuffle.cpp
extern const OperatorRow detection_loss;         // detection_loss.cpp
extern const OperatorRow div;                    // binary.cpp
extern const OperatorRow dropout;                // dropout.cpp
extern const OperatorRow elementary;             // elementary.cpp
extern const OperatorRow elu;                    // eltwise.cpp
extern const OperatorRow embedding;              // embedding.cpp
extern const OperatorRow exp;                    // eltwise.cpp
extern const OperatorRow expand;                 // expand.cpp
extern const OperatorRow fan_out;                // all_reduce.cpp
extern const OperatorRow flatten;                // reshape.cpp
extern const OperatorRow focal;                  // class_loss.cpp
extern const OperatorRow gather;                 // gather.cpp
extern const OperatorRow gelu;                   // eltwise.cpp
extern const OperatorRow global_pool;            // global_pool.cpp
extern const OperatorRow halo;                   // halo.cpp
extern const OperatorRow layer_norm;             // layer_norm.cpp
extern const OperatorRow leaky_relu;             // eltwise.cpp
extern const OperatorRow log;                    // log.cpp
extern const OperatorRow log_softmax;            // softmax.cpp
extern const OperatorRow lrn;                    // lrn.cpp
extern const OperatorRow lstm;                   // lstm.cpp
extern const OperatorRow mae;                    // term_loss.cpp
extern const OperatorRow matmul;                 // matmul.cpp
extern const OperatorRow max_pool;               // pool.cpp
extern const OperatorRow maximum;                // binary.cpp
extern const OperatorRow minimum;                // binary.cpp
extern const OperatorRow mse;                    // term_loss.cpp
extern const OperatorRow mul;                    // binary.cpp
extern const OperatorRow nll;                    // class_loss.cpp
extern const OperatorRow pad;                    // pad.cpp
extern const OperatorRow pow;                    // eltwise.cpp
extern const OperatorRow prelu;                  // prelu.cpp
extern const OperatorRow receive;                // receive.cpp
extern const OperatorRow reduce;                 // reduce.cpp
extern const OperatorRow reduce_scatter;         // reduce_scatter.cpp
extern const OperatorRow relu;                   // eltwise.cpp
extern const OperatorRow reshape;                // reshape.cpp
extern const OperatorRow resize;                 // resize.cpp
extern const OperatorRow scale;                  // scale.cpp
extern const OperatorRow send;                   // send.cpp
extern const OperatorRow sigmoid;                // eltwise.cpp
extern const OperatorRow sigmoid_cross_entropy;  // term_loss.cpp
extern const OperatorRow slice;                  // slice.cpp
extern const OperatorRow smooth_l1;              // term_loss.cpp
extern const OperatorRow softmax;                // softmax.cpp
extern const OperatorRow softmax_cross_entropy;  // class_loss.cpp
extern const OperatorRow softplus;               // eltwise.cpp
extern const OperatorRow space_to_depth;         // block_shuffle.cpp
extern const OperatorRow split;                  // split.cpp
extern const OperatorRow sqrt;                   // eltwise.cpp
extern const OperatorRow sub;                    // binary.cpp
extern const OperatorRow tanh;                   // eltwise.cpp
extern const OperatorRow transpose;              // transpose.cpp

Table<OperatorRow> operators() {
  static constexpr const OperatorRow* all[] = {&add,
                                               &all_gather,
                                               &all_reduce,
                                               &attention,
                                               &average_pool,
                                               &batch_norm,
                                               &clip,
                                               &concat,
                                               &conv,
                                               &deconv,
                                               &dense,
                                               &depth_to_space,
                                               &detection_loss,
                                               &div,
                                               &dropout,
                                               &elementary,
                                               &elu,
                                               &embedding,
                                               &exp,
                                               &expand,
                                               &fan_out,
                                               &flatten,
                                               &focal,
                                               &gather,
                                               &gelu,
                                               &global_pool,
                                               &halo,
                                               &layer_norm,
                                               &leaky_relu,
                                               &log,
                                               &log_softmax,
                                               &lrn,
                                               &lstm,
                                               &mae,
                                               &matmul,
                                               &max_pool,
                                               &maximum,
                                               &minimum,
                                               &mse,
                                               &mul,
                                               &nll,
                                               &pad,
                                               &pow,
                                               &prelu,
                                               &receive,
                                               &reduce,
                                               &reduce_scatter,
                                               &relu,
                                               &reshape,
                                               &resize,
                                               &scale,
                                               &send,
                                               &sigmoid,
                                               &sigmoid_cross_entropy,
                                               &slice,
                                               &smooth_l1,
                                               &softmax,
                                               &softmax_cross_entropy,
                                               &softplus,
                                               &space_to_depth,
                                               &split,
                                               &sqrt,
                                               &sub,
                                               &tanh,
                                               &transpose};
  return all;
}

}  // namespace isobar::ops
