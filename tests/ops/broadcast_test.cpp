#include "isobar/ops/broadcast.hpp"

#include <array>
#include <atomic>

#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"
#include "tests/ops/reference_shape.hpp"

namespace isobar::ops {
namespace {

TEST(Broadcast, AlignsAtTheLastAxis) {
  const std::array<Shape, 3> shapes{Shape{2, 1, 4}, Shape{3, 1}, Shape{}};
  EXPECT_EQ(broadcast_shape(shapes), (Shape{2, 3, 4}));
}

// Every element of the result is visited once, with the matching elements of both operands; parts end within rows.
TEST(BroadcastLoop, VisitsWhatTheCoordinatesSay) {
  const std::vector<std::array<Shape, 2>> cases{{Shape{70, 300, 3}, Shape{3}},
                                                {Shape{70, 300, 3}, Shape{300, 1}},
                                                {Shape{70, 1, 3}, Shape{1, 301, 1}},
                                                {Shape{5, 1, 7, 1, 3}, Shape{2, 1, 80, 3}},
                                                {Shape{40, 1}, Shape{1000}},
                                                {Shape{1}, Shape{40, 1, 1000}},
                                                {Shape{}, Shape{}},
                                                {Shape{1, 1}, Shape{1}}};
  for (const auto& operands : cases) {
    const Shape y = broadcast_shape(operands);
    const BroadcastLoop loop(y, operands);
    std::vector<int> visits(static_cast<std::size_t>(y.count()));
    std::atomic<int> wrong = 0;
    loop.run([&](std::int64_t at, const std::int64_t* first, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) {
        ++visits[static_cast<std::size_t>(at + i)];
        const auto coordinates = reference::coordinates(y, at + i);
        for (std::size_t k = 0; k < 2; ++k)
          wrong += first[k] + (loop.moves(k) ? i : 0) != reference::element(operands[k], coordinates);
      }
    });
    EXPECT_EQ(wrong, 0) << operands[0].str() << " and " << operands[1].str();
    EXPECT_TRUE(std::ranges::all_of(visits, [](int v) { return v == 1; })) << y.str();
  }
}

// Where the inputs are equal, each gets half of the gradient.
TEST(Maximum, SharesTies) {
  for (const char* spec : {"maximum", "minimum"}) {
    Direct f(spec, {{1, 3}, {1, 3}});
    std::ranges::copy(std::vector{1.f, 2.f, 3.f}, f.x(0).begin());
    std::ranges::copy(std::vector{3.f, 2.f, 1.f}, f.x(1).begin());
    f.forward();
    std::ranges::fill(f.dy(), 8.0f);
    f.backward();
    const bool larger = std::string(spec) == "maximum";
    EXPECT_EQ(std::vector(f.dx(0).begin(), f.dx(0).end()),
              (larger ? std::vector{0.f, 4.f, 8.f} : std::vector{8.f, 4.f, 0.f}));
    EXPECT_EQ(std::vector(f.dx(1).begin(), f.dx(1).end()),
              (larger ? std::vector{8.f, 4.f, 0.f} : std::vector{0.f, 4.f, 8.f}));
  }
}

// An operand that no slope reads is not kept for backward.
TEST(Binary, ReadsOnlyWhatItNeeds) {
  const auto reads = [](const char* spec) {
    Direct f(spec, {{2, 3}, {2, 3}});
    std::vector<std::size_t> counts;
    for (const Kernel& kernel : f.op->backward(f.setting(), f.in)) counts.push_back(kernel.reads.size());
    return counts;
  };
  EXPECT_EQ(reads("sub"), (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(reads("mul"), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(reads("div"), (std::vector<std::size_t>{2, 3}));
}

}  // namespace
}  // namespace isobar::ops
