// The arithmetic of an LSTM in one direction, on plain matrices: products by oneDNN's sgemm, gates by our own loops.
// Steps run forward or backward in time; a tensor [N, T, ...] has step t at rows n*T + t.
#pragma once

#include <cstdint>

namespace isobar::ops {

/// One direction of one layer: what is fixed while planning.
struct LstmCase {
  std::int64_t batch, steps, features, units;
  std::int64_t y_width;  ///< numbers in a row of the hidden sequence, all directions together
  bool reverse;
  float forget_bias;
  /// The time of the i-th step.
  std::int64_t time(std::int64_t i) const { return reverse ? steps - 1 - i : i; }
};

/// Tensors of one direction; gates are i, f, g, o in this order, after their functions.
struct LstmData {
  const float *x, *w, *r, *b;     ///< [N, T, F], [4U, F], [4U, U], [4U]; b may be null
  const float *h0, *c0;           ///< [N, U]; null: zero
  float *gates, *cells, *hidden;  ///< [N, T, 4U], [N, T, U], [N, T, y_width] from this direction's first unit
};

/// Writes gates, cells and hidden.
void lstm_forward(const LstmCase& p, const LstmData& data);

/// Gradients of one direction.
struct LstmGradients {
  const float *dy, *dh, *dc;  ///< dy: [N, T, y_width] or null; the others: of the last hidden and cell state, [N, U]
  float *dx, *dw, *dr, *db;   ///< db may be null
  float *dh0, *dc0;           ///< [N, U]; always written
  float *dgates, *previous;   ///< scratch memory: [N, T, 4U], [N, T, U]
  bool add_to_dx;             ///< dx already holds another direction's part
};

/// Writes all gradients; `data` as lstm_forward left it.
void lstm_backward(const LstmCase& p, const LstmData& data, const LstmGradients& d);

}  // namespace isobar::ops
