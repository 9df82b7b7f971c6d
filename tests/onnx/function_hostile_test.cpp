// Functions on damaged calls: omitted inputs, other dims, absurd numbers, attributes and versions. Every call must end
// with outputs of the inferred dims or with an Error; the sanitizers check the rest.
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/onnx/function.hpp"

#include "tests/onnx/cases.hpp"

namespace isobar::onnx {
namespace {

class Damage {
 public:
  explicit Damage(std::uint32_t seed) : random_(seed) {}

  /// Changes one property of a node or of its inputs.
  void apply(OnnxNode& node, std::vector<Array>& inputs, std::int64_t& version) {
    const std::size_t what = below(8);
    if (what == 0) version = static_cast<std::int64_t>(below(18));
    if (what == 1 && !inputs.empty()) inputs[below(inputs.size())].type = Type::undefined;
    if (what == 2 && !inputs.empty()) inputs.pop_back();
    if (what == 3 && !inputs.empty()) change_dims(inputs[below(inputs.size())]);
    if (what == 4 && !inputs.empty()) change_numbers(inputs[below(inputs.size())]);
    if (what == 5 && inputs.size() > 1) std::swap(inputs[below(inputs.size())], inputs[below(inputs.size())]);
    if (what >= 6 && !node.attributes.empty()) {
      auto attribute = node.attributes.begin();
      std::advance(attribute, below(node.attributes.size()));
      if (what == 6) change_attribute(attribute->second);
      else node.attributes.erase(attribute);
    }
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  double number() {
    static constexpr double numbers[] = {0, -1, 1, -2, 7, 0.5, -1e9, 1e18, -1e18, 1e30, 65536, 0x1p31, -7.25, 9.3e18};
    const std::size_t i = below(std::size(numbers) + 2);
    if (i == std::size(numbers)) return std::numeric_limits<double>::quiet_NaN();
    return i > std::size(numbers) ? std::numeric_limits<double>::infinity() : numbers[i];
  }
  std::int64_t whole() {
    static constexpr std::int64_t wholes[] = {0,
                                              1,
                                              -1,
                                              2,
                                              3,
                                              -3,
                                              5,
                                              1000,
                                              1 << 30,
                                              -(1 << 30),
                                              max_axis,
                                              -max_axis,
                                              std::numeric_limits<std::int64_t>::max(),
                                              std::numeric_limits<std::int64_t>::min()};
    return wholes[below(std::size(wholes))];
  }

  void change_dims(Array& array) {
    static constexpr std::int64_t extents[] = {0, 1, 2, 3, 4, 7};
    const std::size_t what = below(3);
    if (what == 0 && !array.dims.empty()) array.dims.pop_back();
    if (what == 1) array.dims.insert(array.dims.begin(), extents[below(std::size(extents))]);
    if (what == 2 && !array.dims.empty()) array.dims[below(array.dims.size())] = extents[below(std::size(extents))];
    // An empty tensor may have extents of any size besides the 0.
    if (below(8) == 0) array.dims = {0, max_axis};
    if (below(8) == 0) array.dims = {max_axis, 0};
    if (array.count() > 1 << 12) array.dims = {0};
    const auto count = static_cast<std::size_t>(array.count());
    while (array.values.size() < count) array.values.push_back(number());
    array.values.resize(count);
    for (double& value : array.values) value = stored_as(array.type, value);
  }
  void change_numbers(Array& array) {
    for (double& value : array.values)
      if (below(3) == 0) value = stored_as(array.type, number());
  }
  void change_attribute(Attribute& attribute) {
    attribute.integer = whole();
    attribute.number = number();
    if (below(4) == 0) attribute.text += "?";
    if (below(4) == 0) attribute.integers.push_back(whole());
    if (below(4) == 0 && !attribute.numbers.empty()) attribute.numbers.pop_back();
    if (below(4) == 0 && !attribute.integers.empty()) attribute.integers.pop_back();
    if (!attribute.integers.empty()) attribute.integers[below(attribute.integers.size())] = whole();
    if (!attribute.numbers.empty()) attribute.numbers[below(attribute.numbers.size())] = number();
    if (below(8) == 0) attribute.kind = Attribute::Kind::integer;
  }

  std::mt19937 random_;
};

/// Whether the call returned outputs.
bool survives(const OnnxNode& node, const std::vector<Array>& inputs, std::int64_t version) {
  std::vector<const Array*> pointers;
  for (const Array& input : inputs) pointers.push_back(input.type == Type::undefined ? nullptr : &input);
  const Function& function = *find_function(node.op);
  const Call call{node, version, pointers};
  try {
    std::int64_t count = 0;
    const std::vector<Array> inferred = function.infer(call);
    for (const Array& output : inferred) count += output.count();
    // Large results are valid, but would only cost time here.
    if (count > 1 << 16) return false;
    const std::vector<Array> outputs = run_function(function, call);
    EXPECT_EQ(outputs.size(), inferred.size()) << node.op;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(outputs[i].dims, inferred[i].dims) << node.op;
      EXPECT_EQ(static_cast<std::int64_t>(outputs[i].values.size()), outputs[i].count()) << node.op;
    }
    return true;
  } catch (const Error&) {
    return false;
  } catch (const std::exception& other) {
    std::string dims;
    for (const Array& input : inputs) dims += dims_text(input.dims);
    ADD_FAILURE() << node.op << " of " << dims << ": " << other.what();
    return false;
  }
}

TEST(FunctionHostile, DamagedCallsEndInErrorsOrOutputs) {
  ASSERT_TRUE(std::filesystem::exists(data_folder)) << "needs the Debian package libonnx-testdata";
  Damage damage(1);
  int ended = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder / "node")) {
    std::string reason;
    const std::optional<Case> test = read_case(entry.path(), reason);
    if (!test || test->model.nodes.size() != 1) continue;
    for (int round = 0; round < 20; ++round) {
      OnnxNode node = test->model.nodes[0];
      std::int64_t version = test->model.versions.at("");
      std::vector<Array> inputs;
      for (const std::string& name : node.in) {
        inputs.push_back(name.empty() ? Array{} : test->values.at(name));
        if (name.empty()) inputs.back().type = Type::undefined;
      }
      for (int i = 0; i <= round % 3; ++i) damage.apply(node, inputs, version);
      SCOPED_TRACE(entry.path().filename());
      ++(survives(node, inputs, version) ? ended : refused);
    }
  }
  EXPECT_GT(ended, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace isobar::onnx
