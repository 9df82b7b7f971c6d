// The models a recipe can name: networks of the zoo and ONNX files.
#pragma once

#include "isobar/base/spec.hpp"
#include "isobar/train/job.hpp"

namespace isobar::cli {

/// "cosmoflow(size=32)"; "onnx(file='net.onnx')", or the section [model] with the key onnx. An empty loss takes the
/// network's own; a file has none.
train::Model make_model(const Spec& model, const Spec& loss);

/// The weights of a run's checkpoint by name, in plain order.
std::function<std::vector<float>(const std::string& name)> checkpoint_weights(const std::filesystem::path& file);

}  // namespace isobar::cli
