// Attention and LSTM, written: the first as the products it is made of, the second with time first and ONNX's order of
// gates.
#include <cmath>

#include "isobar/onnx/exporter.hpp"

namespace isobar::onnx {
namespace {

void attention(Exporter& e) {
  Args args = e.args();
  const std::int64_t heads = args.integer("heads", 1), T = e.shape(0)[1], S = e.shape(1)[1], W = e.shape(0)[2];
  const std::int64_t part = W / heads;
  // [N, length, W] -> [N, heads, ...] with the axes behind in the order given.
  const auto apart = [&](std::size_t i, std::int64_t length, std::vector<std::int64_t> order) {
    const std::string split =
        e.emit("Reshape", {e.plain(i), e.constant(std::vector<std::int64_t>{0, length, heads, part})});
    return e.emit("Transpose", {split}, {{"perm", attribute(std::move(order))}});
  };
  const std::string q = apart(0, T, {0, 2, 1, 3}), k = apart(1, S, {0, 2, 3, 1}), v = apart(2, S, {0, 2, 1, 3});
  std::string z = e.emit("Mul", {e.emit("MatMul", {q, k}), e.scalar(1 / std::sqrt(static_cast<double>(part)))});
  if (args.flag("causal", false)) {
    std::vector<float> mask(static_cast<std::size_t>(T * S), 0.0f);
    for (std::int64_t t = 0; t < T; ++t)
      for (std::int64_t s = t + 1; s < S; ++s) mask[static_cast<std::size_t>(t * S + s)] = -1e30f;
    z = e.emit("Add", {z, e.constant({T, S}, mask)});
  }
  const std::string y = e.emit("MatMul", {e.emit("Softmax", {z}, {{"axis", attribute(-1)}}), v});
  const std::string together = e.emit("Transpose", {y}, {{"perm", attribute(std::vector<std::int64_t>{0, 2, 1, 3})}});
  e.give_plain(0, e.emit("Reshape", {together, e.constant(std::vector<std::int64_t>{0, T, W})}));
}

// [D, 4 units, columns] from gates i, f, c, o to ONNX's i, o, f, c.
std::vector<float> gates(const std::vector<float>& w, std::int64_t directions, std::int64_t block) {
  constexpr std::int64_t from[] = {0, 3, 1, 2};
  std::vector<float> list;
  for (std::int64_t d = 0; d < directions; ++d)
    for (const std::int64_t g : from) {
      const auto begin = w.begin() + (d * 4 + g) * block;
      list.insert(list.end(), begin, begin + block);
    }
  return list;
}

void lstm(Exporter& e) {
  Args args = e.args();
  const std::int64_t H = args.integer("units"), N = e.shape(0)[0], T = e.shape(0)[1], F = e.shape(0)[2];
  const std::string direction = args.text("direction", "forward");
  const std::int64_t D = direction == "bidirectional" ? 2 : 1;
  const bool bias = args.flag("bias", true);
  const std::size_t first = e.inputs() - (bias ? 3 : 2);
  std::vector<std::string> in{
      e.emit("Transpose", {e.plain(0)}, {{"perm", attribute(std::vector<std::int64_t>{1, 0, 2})}}),
      e.constant({D, 4 * H, F}, gates(e.numbers(first), D, H * F)),
      e.constant({D, 4 * H, H}, gates(e.numbers(first + 1), D, H * H)), ""};
  const double forget = args.real("forget_bias", 0);
  if (bias || forget != 0) {
    std::vector<float> own =
        bias ? e.numbers(first + 2) : std::vector<float>(static_cast<std::size_t>(D * 4 * H), 0.0f);
    for (std::int64_t d = 0; d < D; ++d)  // gate f is the second
      for (std::int64_t u = 0; u < H; ++u)
        own[static_cast<std::size_t>((d * 4 + 1) * H + u)] += static_cast<float>(forget);
    std::vector<float> both;
    const std::vector<float> b = gates(own, D, H);
    for (std::int64_t d = 0; d < D; ++d) {
      both.insert(both.end(), b.begin() + d * 4 * H, b.begin() + (d + 1) * 4 * H);
      both.insert(both.end(), static_cast<std::size_t>(4 * H), 0.0f);
    }
    in[3] = e.constant({D, 8 * H}, both);
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

std::span<const ExportRule> export_blocks();
std::span<const ExportRule> export_blocks() {
  static constexpr ExportRule all[] = {{"attention", attention}, {"lstm", lstm}};
  return all;
}

}  // namespace isobar::onnx
