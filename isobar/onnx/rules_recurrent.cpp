// LSTM. ONNX has time first, gates in the order i, o, f, c and two biases; lstm has the batch first, gates i, f, c, o
// and one bias, which is their sum.
#include <algorithm>

#include "isobar/onnx/importer.hpp"

namespace isobar::onnx {
namespace {

using graph::ValueId;

// [D, 4 units, columns] from ONNX's order of gates to ours.
std::vector<float> gates(const Array& a, std::int64_t units, std::int64_t columns) {
  constexpr std::int64_t from[] = {0, 2, 3, 1};
  const std::int64_t block = units * columns, directions = a.dims[0];
  std::vector<float> list;
  for (std::int64_t d = 0; d < directions; ++d)
    for (const std::int64_t g : from)
      for (std::int64_t i = 0; i < block; ++i) list.push_back(static_cast<float>(a.values[(d * 4 + g) * block + i]));
  return list;
}

// [D, 8 units] of two biases to [D, 4 units] of their sum, in our order.
std::vector<float> summed_bias(const Array& a, std::int64_t units) {
  constexpr std::int64_t from[] = {0, 2, 3, 1};
  std::vector<float> list;
  for (std::int64_t d = 0; d < a.dims[0]; ++d)
    for (const std::int64_t g : from)
      for (std::int64_t u = 0; u < units; ++u) {
        const std::size_t at = d * 8 * units + g * units + u;
        list.push_back(static_cast<float>(a.values[at] + a.values[at + 4 * units]));
      }
  return list;
}

bool lstm(Importer& m) {
  const OnnxNode& node = m.node();
  const std::string direction = node.text("direction", "forward");
  const std::int64_t D = direction == "bidirectional" ? 2 : 1;
  if (node.has("activations") || node.has("clip") || node.integer("input_forget", 0) || node.integer("layout", 0) ||
      m.has(4) || m.has(7) || m.has(5) != m.has(6) || m.rank(0) != 3 || checked_count(m.dims(0), "X") == 0)
    return false;
  const std::int64_t T = m.dims(0)[0], N = m.dims(0)[1], F = m.dims(0)[2];
  if (m.rank(1) != 3 || m.dims(1)[1] % 4 != 0)
    fail("W = {} is not [directions, 4 units, features]", dims_text(m.dims(1)));
  const std::int64_t H = m.dims(1)[1] / 4;
  if (H < 1 || m.dims(1) != Dims{D, 4 * H, F} || m.dims(2) != Dims{D, 4 * H, H} ||
      (m.has(3) && m.dims(3) != Dims{D, 8 * H}))
    fail("X = {}, W = {}, R = {} do not match", dims_text(m.dims(0)), dims_text(m.dims(1)), dims_text(m.dims(2)));
  for (std::size_t i = 5; i < 7; ++i)
    if (m.has(i) && m.dims(i) != Dims{D, N, H})
      fail("input {} is {}, needs {}", i, dims_text(m.dims(i)), dims_text({D, N, H}));
  std::vector<ValueId> in{m.add("transpose(order=[1, 0, 2])", m.plain(0))};
  if (m.has(5)) in.insert(in.end(), {m.plain(5), m.plain(6)});
  in.push_back(m.weight_of(1, {D, 4 * H, F}, gates(m.numbers(1), H, F), {"glorot_uniform", true, {4 * H, F}}));
  in.push_back(m.weight_of(2, {D, 4 * H, H}, gates(m.numbers(2), H, H), {"glorot_uniform", true, {4 * H, H}}));
  if (m.has(3)) in.push_back(m.weight_of(3, {D, 4 * H}, summed_bias(m.numbers(3), H), {}));
  m.add_complete(fmt::format("lstm(units={}, direction={}, bias={})", H, direction, m.has(3)), std::move(in));
  const std::vector<ValueId> out = m.added();
  if (m.wanted(0)) {  // [N, T, D H] -> [T, D, N, H]
    const ValueId apart = m.add(fmt::format("reshape(whole=[{}, {}, {}, {}])", N, T, D, H), out[0]);
    m.give(0, m.add("transpose(order=[1, 2, 0, 3])", apart), {T, D, N, H});
  }
  if (m.wanted(1)) m.give(1, out[1], {D, N, H});
  if (m.wanted(2)) m.give(2, out[2], {D, N, H});
  return true;
}

}  // namespace

std::span<const ImportRule> rules_recurrent() {
  static constexpr ImportRule all[] = {{"LSTM", lstm}};
  return all;
}

}  // namespace isobar::onnx
