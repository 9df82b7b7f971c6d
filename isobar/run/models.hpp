// The models a recipe can name: networks of the zoo and ONNX files.
#pragma once

#include "isobar/base/spec.hpp"
#include "isobar/train/job.hpp"

namespace isobar::run {

/// "cosmoflow(size=32)"; "onnx(file='net.onnx')", or the section [model] with the key onnx. An empty loss means the
/// network's own; a file has none.
train::Model make_model(const Spec& model, const Spec& loss);

/// The model of a recipe: its keys `model` and `loss`.
train::Model model_of(const Spec& recipe);

/// The job of a recipe with its model; as train::read_job().
train::Job read_job(const Spec& recipe, const std::string& name, datasets::Survey& survey);
/// The same with a survey that knows nothing.
train::Job read_job(const Spec& recipe, const std::string& name);

/// A model that is only applied, and so needs no loss; with an empty `loss` the graph has none.
train::Model make_bare_model(const Spec& model, const Spec& loss = {});

}  // namespace isobar::run
