// PyTorch itself as an oracle, where it is installed (Debian's python3-torch and python3-onnx, or the interpreter that
// ISOBAR_ORACLE_PYTHON names): with the same weights and batch, every network and operator must have the same loss and
// the same gradient of every weight to 1e-4, number by number. All starts must agree. PyTorch reads them as ONNX files,
// which onnx's own checker must accept. golden_test.cpp compares with stored results of PyTorch, on every machine.
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/onnx/golden.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/zoo/built.hpp"

namespace isobar::onnx {
namespace {

namespace fs = std::filesystem;

class Oracle : public testing::Test {
 protected:
  void SetUp() override {
    // Otherwise the system's python, which has Debian's packages.
    const char* given = std::getenv("ISOBAR_ORACLE_PYTHON");
    if (given) python_ = given;
    if (std::system(fmt::format("'{}' -c 'import torch, onnx' >/dev/null 2>&1", python_).c_str()) == 0) return;
    ASSERT_FALSE(given) << "ISOBAR_ORACLE_PYTHON names '" << given << "', which cannot import torch and onnx";
    GTEST_SKIP() << "needs the Debian packages python3-torch and python3-onnx";
  }

  // Whether PyTorch agrees with all written cases.
  bool agrees() const {
    const std::string script = fs::path(ISOBAR_ONNX_TESTS) / "oracle" / "compare.py";
    return std::system(
               fmt::format("'{}' -B '{}' '{}' {} 2>&1", python_, script, folder_.path().string(), golden_tolerance)
                   .c_str()) == 0;
  }

  std::string python_ = "/usr/bin/python3";
  tests::TemporaryFolder folder_;
};

TEST_F(Oracle, PyTorchHasTheSameLossAndGradients) {
  std::size_t index = 0;
  for (const zoo::Shrunken& small : oracle_networks()) {
    const std::string name = Spec(small.spec).name();
    const ordered_json file = read_golden("networks", name);
    const auto ours = network_case(small);
    for (const ordered_json& start : golden_case(file, small.spec, name).at("starts")) {
      ours->store().initialize(start.at("seed"));
      write_case(folder_ / zoo::test_name(index, small.spec) / start["seed"].dump(), *ours, small.spec);
    }
    ++index;
  }
  EXPECT_TRUE(agrees());
}

TEST_F(Oracle, PyTorchHasTheSameOperators) {
  for (const ops::OperatorRow* row : ops::operators()) {
    int index = 0;
    for (const ops::Problem& problem : row->problems)
      if (!inexpressible(problem))
        write_case(folder_ / fmt::format("{}_{}", row->name, index++) / "1", *operator_case(problem),
                   problem_title(problem));
  }
  EXPECT_TRUE(agrees());
}

}  // namespace
}  // namespace isobar::onnx
