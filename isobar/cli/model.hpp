// The models a recipe can name: networks of the zoo and ONNX files.
#pragma once

#include "isobar/base/spec.hpp"
#include "isobar/train/job.hpp"

namespace isobar::cli {

/// "cosmoflow(size=32)"; "onnx(file='net.onnx')", or the section [model] with the key onnx. An empty loss takes the
/// network's own; a file has none.
train::Model make_model(const Spec& model, const Spec& loss);

/// A model that is only applied, and so needs no loss; with an empty one the graph has no loss.
train::Model make_bare_model(const Spec& model, const Spec& loss = {});

}  // namespace isobar::cli
