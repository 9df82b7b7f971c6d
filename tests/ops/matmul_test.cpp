#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

std::vector<float> matmul_listed(std::span<const float> s) { return {s.begin(), s.end()}; }

// One matrix for a batch of others: its gradient is the sum of theirs.
TEST(Matmul, BroadcastByHand) {
  Direct product("matmul", {{1, 1, 2}, {2, 2, 1}});
  std::ranges::copy(std::vector{1.f, 10.f}, product.x(0).begin());
  std::ranges::copy(std::vector{1.f, 2.f, 3.f, 4.f}, product.x(1).begin());
  product.forward();
  EXPECT_EQ(matmul_listed(product.y()), (std::vector{21.f, 43.f}));
  std::ranges::copy(std::vector{1.f, 100.f}, product.dy().begin());
  product.backward();
  EXPECT_EQ(matmul_listed(product.dx(0)), (std::vector{301.f, 402.f}));
  EXPECT_EQ(matmul_listed(product.dx(1)), (std::vector{1.f, 10.f, 100.f, 1000.f}));
  EXPECT_TRUE(product.intact());
}

// A weight for all rows must not be repeated for every matrix, nor its gradient summed afterwards.
TEST(Matmul, OneWeightIsOneProduct) {
  const Direct product("matmul", {{5, 3, 4}, {4, 2}});
  EXPECT_EQ(product.op->backward(product.setting(), product.in).size(), 2u);
  EXPECT_EQ(product.op->forward(product.setting(), product.in).flops, 2.0 * 5 * 3 * 4 * 2);
}

TEST(Matmul, Refuses) {
  EXPECT_EQ(failure([] {
              Direct("matmul", {{2, 3}, {4, 5}});
            }),
            "a = 2x3 has 3 columns, b = 4x5 has 4 rows: they must be equal");
  EXPECT_EQ(failure([] {
              Direct("matmul", {{2, 2, 3}, {5, 3, 4}});
            }),
            "a = 2x2x3 and b = 5x3x4 do not broadcast: 2 against 5");
  EXPECT_NE(failure([] { Direct("matmul", {{3}, {3, 4}}); }).find("two axes or more"), std::string::npos);
}

}  // namespace
}  // namespace isobar::ops
