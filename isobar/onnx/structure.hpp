// Structure of a model: every name is written once and read after it was written.
#pragma once

#include "isobar/onnx/model.hpp"

namespace isobar::onnx {

/// Sorts the nodes into an order in which they can run, keeping the file's where that is one. Throws Error for values
/// that are written twice, never written, or depend on themselves.
void put_in_order(OnnxModel& model);

}  // namespace isobar::onnx
