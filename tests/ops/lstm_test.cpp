// What the conformance test does not cover: the second and third output, and gradients through them.
#include <gtest/gtest.h>

#include "isobar/base/random.hpp"

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"
#include "tests/ops/reference.hpp"

namespace isobar::ops {
namespace {

void lstm_fill(std::span<float> values, std::uint64_t key) {
  const Random random(4, key);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(2 * random.uniform(i) - 1);
}

class LstmStates : public testing::TestWithParam<const char*> {};

TEST_P(LstmStates, LastStatesAndTheirGradients) {
  const Spec spec(GetParam());
  const std::int64_t directions = spec.str().find("bidirectional") == std::string::npos ? 1 : 2;
  const Shape state{directions, 2, 3};
  Direct lstm(spec, {{2, 4, 2}, state, state});
  std::vector<reference::Array> in;
  for (std::size_t i = 0; i < lstm.shapes.size(); ++i) {
    const auto values = lstm.x(static_cast<int>(i));
    lstm_fill(values, i);
    in.emplace_back(lstm.shapes[i]);
    std::ranges::copy(values, in.back().values.begin());
  }
  lstm.forward();
  Args args(spec);
  const std::vector<reference::Array> expected = reference::lstm_outputs(args, in);
  for (int o = 0; o < 3; ++o) {
    const auto got = lstm.at(Slot::Kind::y, o, plain(lstm.out[static_cast<std::size_t>(o)]));
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[static_cast<std::size_t>(o)].values[i], 1e-5) << o;
    lstm_fill(lstm.at(Slot::Kind::dy, o, plain(lstm.out[static_cast<std::size_t>(o)])),
              20 + static_cast<std::uint64_t>(o));
  }
  lstm.backward();
  const auto weighted = [&](const std::vector<reference::Array>& at) {
    Args again(spec);
    const std::vector<reference::Array> outputs = reference::lstm_outputs(again, at);
    double sum = 0;
    for (int o = 0; o < 3; ++o) {
      const auto dy = lstm.at(Slot::Kind::dy, o, plain(lstm.out[static_cast<std::size_t>(o)]));
      for (std::size_t i = 0; i < dy.size(); ++i) sum += dy[i] * outputs[static_cast<std::size_t>(o)].values[i];
    }
    return sum;
  };
  for (std::size_t p = 0; p < in.size(); ++p)
    for (const std::size_t i : {std::size_t{0}, in[p].values.size() / 2, in[p].values.size() - 1}) {
      auto up = in, down = in;
      up[p].values[i] += 1e-5;
      down[p].values[i] -= 1e-5;
      EXPECT_NEAR(lstm.dx(static_cast<int>(p))[i], (weighted(up) - weighted(down)) / 2e-5, 1e-4) << p << " " << i;
    }
  EXPECT_TRUE(lstm.intact());
}

INSTANTIATE_TEST_SUITE_P(Specs, LstmStates,
                         testing::Values("lstm(units=3)", "lstm(units=3, direction=bidirectional, forget_bias=1)",
                                         "lstm(units=3, direction=reverse, sequence=false)"));

TEST(Lstm, CountsProducts) {
  const Direct lstm("lstm(units=5)", {{2, 7, 3}});
  EXPECT_EQ(lstm.op->forward(lstm.setting(), lstm.in).flops, 2.0 * 2 * 7 * 20 * (3 + 5));
}

TEST(Lstm, Refuses) {
  EXPECT_EQ(failure([] { Direct("lstm(units=3)", {{2, 4}}); }), "x = 2x4 must be [batch, steps, features]");
  EXPECT_EQ(failure([] {
              Direct("lstm(units=3)", {{2, 4, 2}, {1, 2, 3}});
            }),
            "takes x, or x, h0 and c0; 2 inputs given");
  EXPECT_EQ(failure([] { Direct("lstm(units=3)", {{2, 4, 2}, {2, 2, 3}, {2, 2, 3}}); }), "h0 = 2x2x3 must be 1x2x3");
  EXPECT_THROW(make_operator("lstm(units=3, direction=sideways)"), UsageError);
}

}  // namespace
}  // namespace isobar::ops
