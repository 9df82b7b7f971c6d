// Windows of convolution and pooling nodes: strides, dilations and padding, with auto_pad resolved for one input.
#pragma once

#include <string>

#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {

/// One entry per spatial axis.
struct NodeWindow {
  std::vector<std::int64_t> kernel, stride, dilation, before, after;
  /// "stride=[2, 2], dilation=[1, 1], padding=[0, 0], padding_after=[1, 1]", for a Spec.
  std::string arguments() const;
  /// Whether any padding is negative, which crops; no window operator of the catalogue supports that.
  bool crops() const;
};

/// The window of a node over input 0, whose dims are [N, C, spatial...]; throws Error for lists of the wrong length and
/// for extents below 1.
NodeWindow node_window(Importer& m, std::vector<std::int64_t> kernel);

}  // namespace isobar::onnx
