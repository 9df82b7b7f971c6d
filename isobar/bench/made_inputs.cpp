#include "isobar/bench/made_inputs.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/random.hpp"

namespace isobar::bench {
namespace {

// Noise as a function of the index.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed, 0) {}
  double unit() { return random_.uniform(at_++); }
  float whole(std::int64_t below) {
    return static_cast<float>(std::min<std::int64_t>(below - 1, static_cast<std::int64_t>(unit() * below)));
  }

 private:
  Random random_;
  std::uint64_t at_ = 0;
};

// In the format of detection_loss, x y w h object none classes...: one cell in ten holds an object of one class.
void make_boxes(const Tensor& tensor, Noise& noise) {
  const std::int64_t channels = tensor.shape()[-1], cells = tensor.count() / channels;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    float* t = tensor.data() + cell * channels;
    for (int i = 0; i < 4; ++i) t[i] = static_cast<float>(noise.unit());
    const bool found = noise.unit() < 0.1;
    t[4] = found, t[5] = !found;
    const float kind = noise.whole(channels - 6);
    for (std::int64_t c = 6; c < channels; ++c) t[c] = found && static_cast<float>(c - 6) == kind;
  }
}

// A reader of the value, and as which of its inputs.
struct Reader {
  const graph::Node* node = nullptr;
  std::size_t place = 0;
};

Reader first_reader(const graph::Graph& graph, graph::ValueId value) {
  for (const graph::Node& node : graph.nodes())
    for (std::size_t i = 0; i < node.in.size(); ++i)
      if (node.in[i] == value) return {&node, i};
  return {};
}

// The reader expects whole numbers below this; 0: any numbers.
std::int64_t whole_below(const graph::Graph& graph, const Reader& reader) {
  const auto shape = [&](std::size_t i) -> const Shape& { return graph.value(reader.node->in[i]).shape; };
  if (!reader.node) return 0;
  const std::string& kind = reader.node->kind;
  if (kind == "embedding" && reader.place == 0) return shape(1)[0];
  if (reader.place != 1) return 0;
  if (kind == "softmax_cross_entropy" || kind == "nll" || kind == "focal") return shape(0)[-1];
  return kind == "sigmoid_cross_entropy" ? 2 : 0;
}

}  // namespace

Tensor made_input(const graph::Graph& graph, const std::string& name, std::uint64_t seed) {
  const graph::ValueId value = graph.find(name);
  Tensor tensor(graph.value(value).shape);
  const Reader reader = first_reader(graph, value);
  Noise noise(seed + value.number());
  if (reader.node && reader.node->kind == "detection_loss" && reader.place == 1) {
    make_boxes(tensor, noise);
    return tensor;
  }
  const std::int64_t below = whole_below(graph, reader);
  for (float& number : tensor.span()) number = below > 0 ? noise.whole(below) : static_cast<float>(noise.unit());
  return tensor;
}

}  // namespace isobar::bench
