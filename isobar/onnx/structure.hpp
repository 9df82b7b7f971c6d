// The structure of a model: every name is written once, and read only after that.
#pragma once

#include "isobar/onnx/model.hpp"

namespace isobar::onnx {

/// Sorts the nodes into an order in which they can run; the file's order is kept if it is valid. Throws Error for
/// values that are written twice, never written, or depend on themselves.
void put_in_order(OnnxModel& model);

}  // namespace isobar::onnx
