// Writes attention and LSTM: the first as the products it consists of, the second with time first and ONNX's order of
// gates.
#include <algorithm>
#include <cmath>

#include "isobar/onnx/exporter.hpp"

namespace isobar::onnx {
namespace {

void attention(Exporter& e) {
  Args args = e.args();
  const std::int64_t heads = args.integer("heads", 1), T = e.shape(0)[1], S = e.shape(1)[1], W = e.shape(0)[2];
  const std::int64_t part = W / heads;
  // [N, length, W] -> [N, heads, ...], with the axes in the given order.
  const auto apart = [&](std::size_t i, std::int64_t length, std::vector<std::int64_t> order) {
    const std::string split =
        e.emit("Reshape", {e.plain(i), e.constant(std::vector<std::int64_t>{0, length, heads, part})});
    return e.emit("Transpose", {split}, {{"perm", attribute(std::move(order))}});
  };
  const std::string q = apart(0, T, {0, 2, 1, 3}), k = apart(1, S, {0, 2, 3, 1}), v = apart(2, S, {0, 2, 1, 3});
  std::string z = e.emit("Mul", {e.emit("MatMul", {q, k}), e.scalar(1 / std::sqrt(static_cast<double>(part)))});
  if (args.flag("causal", false)) {
    std::vector<float> mask(T * S, 0.0f);
    for (std::int64_t t = 0; t < T; ++t)
      for (std::int64_t s = t + 1; s < S; ++s) mask[t * S + s] = -1e30f;
    z = e.emit("Add", {z, e.constant({T, S}, mask)});
  }
  const std::string y = e.emit("MatMul", {e.emit("Softmax", {z}, {{"axis", attribute(-1)}}), v});
  const std::string together = e.emit("Transpose", {y}, {{"perm", attribute(std::vector<std::int64_t>{0, 2, 1, 3})}});
  e.give_plain(0, e.emit("Reshape", {together, e.constant(std::vector<std::int64_t>{0, T, W})}));
}

// [D, 4 units, ...] from gates i, f, c, o to ONNX's i, o, f, c: the file has the weight unchanged and a node that picks
// rows.
std::string gates(Exporter& e, const std::string& weight, std::int64_t units) {
  std::vector<std::int64_t> rows;
  for (const std::int64_t gate : {0, 3, 1, 2})
    for (std::int64_t u = 0; u < units; ++u) rows.push_back(gate * units + u);
  return e.emit("Gather", {weight, e.constant(rows)}, {{"axis", attribute(1)}});
}

void lstm(Exporter& e) {
  Args args = e.args();
  const std::int64_t H = args.integer("units"), N = e.shape(0)[0], T = e.shape(0)[1];
  const std::string direction = args.text("direction", "forward");
  const std::int64_t D = direction == "bidirectional" ? 2 : 1;
  const bool bias = args.flag("bias", true);
  const std::size_t first = e.inputs() - (bias ? 3 : 2);
  std::vector<std::string> in{
      e.emit("Transpose", {e.plain(0)}, {{"perm", attribute(std::vector<std::int64_t>{1, 0, 2})}}),
      gates(e, e.plain(first), H), gates(e, e.plain(first + 1), H), ""};
  // ONNX has two biases: the first is ours, the second holds the forget bias.
  if (const double forget = args.real("forget_bias", 0); bias || forget != 0) {
    std::vector<float> second(D * 4 * H, 0.0f);
    for (std::int64_t d = 0; d < D; ++d)  // gate f is the third of ONNX
      std::fill_n(second.begin() + (d * 4 + 2) * H, H, static_cast<float>(forget));
    const std::string own =
        bias ? gates(e, e.plain(first + 2), H) : e.constant({D, 4 * H}, std::vector<float>(second.size(), 0.0f));
    in[3] = e.emit("Concat", {own, e.constant({D, 4 * H}, second)}, {{"axis", attribute(1)}});
  }
  if (first == 3) in.insert(in.end(), {"", e.plain(1), e.plain(2)});
  if (N > 1 && first == 3) e.fix_batch();
  const auto out = e.emit_many("LSTM", std::move(in), 3,
                               {{"hidden_size", attribute(H)}, {"direction", attribute(direction.c_str())}});
  const auto turned_to_batch = [&](const std::string& y, std::vector<std::int64_t> order,
                                   std::vector<std::int64_t> dims) {
    const std::string turned = e.emit("Transpose", {y}, {{"perm", attribute(std::move(order))}});
    return e.emit("Reshape", {turned, e.constant(dims)});
  };
  if (args.flag("sequence", true))  // [T, D, N, H] -> [N, T, D H]
    e.give_plain(0, turned_to_batch(out[0], {2, 0, 1, 3}, {0, T, D * H}));
  else  // [D, N, H] -> [N, D H]
    e.give_plain(0, turned_to_batch(out[1], {1, 0, 2}, {0, D * H}));
  for (std::size_t o = 1; o < e.node().out.size(); ++o) e.give_plain(o, out[o]);
}

}  // namespace

std::span<const ExportRule> export_blocks() {
  static constexpr ExportRule all[] = {{"attention", attention}, {"lstm", lstm}};
  return all;
}

}  // namespace isobar::onnx
