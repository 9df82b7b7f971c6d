// Made-up data sets and networks to draw pictures of; predictions follow from the data, so tests know them in advance.
#pragma once

#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include "isobar/graph/plan.hpp"
#include "isobar/pictures/pictures.hpp"

namespace isobar::pictures {

/// A data set whose samples are computed by a function.
class MadeSet final : public datasets::Dataset {
 public:
  using Read = std::function<void(std::int64_t sample, std::span<float> x, std::span<float> y)>;

  MadeSet(std::int64_t count, Shape x, Shape y, Read read)
      : count_(count), x_(std::move(x)), y_(std::move(y)), read_(std::move(read)) {}

  std::int64_t size() const override { return count_; }
  std::vector<datasets::Field> fields() const override { return {{"x", x_}, {"y", y_}}; }
  std::vector<std::string> channels() const override { return channel_names; }
  std::vector<std::string> classes() const override { return class_names; }
  std::string where(std::int64_t index) const override { return place ? place(index) : Dataset::where(index); }
  void read(std::int64_t index, std::span<const std::span<float>> out) const override { read_(index, out[0], out[1]); }

  std::vector<std::string> channel_names{}, class_names{};
  std::function<std::string(std::int64_t)> place{};

 private:
  std::int64_t count_;
  Shape x_, y_;
  Read read_;
};

/// An untrained network on such a set: `layers` are consecutive operators, the last of which predicts.
class MadeNetwork {
 public:
  MadeNetwork(const MadeSet& set, const std::vector<std::string>& layers, const std::string& loss) {
    graph::Graph g;
    const auto batched = [](const Shape& shape) {
      std::vector<std::int64_t> extents{2};
      extents.insert(extents.end(), shape.extents().begin(), shape.extents().end());
      return Shape(extents);
    };
    graph::ValueId h = g.input("x", batched(set.fields()[0].shape));
    for (const std::string& layer : layers) h = g.add(Spec(layer), h);
    g.output("prediction", h);
    g.loss(g.add(Spec(loss), {h, g.input("y", batched(set.fields()[1].shape))}, "loss"));
    graph::Plan plan = graph::make_plan(g, {.phase = ops::Phase::inference});
    store = std::make_unique<exec::ParamStore>(plan, 0);
    store->initialize(3);
    executor_ = std::make_unique<exec::Executor>(std::move(plan), *store);
    predictor_ = std::make_unique<train::Predictor>(*executor_);
    viewer_ = std::make_unique<train::Viewer>(*predictor_, set);
    request.viewer = viewer_.get();
    request.loss = Spec(loss);
    request.target_shape = set.fields()[1].shape;
  }

  std::unique_ptr<exec::ParamStore> store;
  PictureRequest request;

 private:
  std::unique_ptr<exec::Executor> executor_;
  std::unique_ptr<train::Predictor> predictor_;
  std::unique_ptr<train::Viewer> viewer_;
};

inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::size_t times(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

inline std::vector<std::string> kinds(const std::vector<Picture>& pictures) {
  std::vector<std::string> list;
  for (const Picture& picture : pictures) list.push_back(picture.kind);
  return list;
}

}  // namespace isobar::pictures
