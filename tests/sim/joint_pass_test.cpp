#include "isobar/sim/joint_pass.hpp"

#include <gtest/gtest.h>

namespace isobar::sim {
namespace {

using Phase = ops::Talk::Phase;

ops::Talk talk(Phase phase, int number) { return {.phase = phase, .circle = "replica", .number = number}; }

Workload made(double factor) {
  Workload w;
  w.forward = {
      {1 * factor}, {2 * factor, {}, talk(Phase::start, 1)}, {3 * factor, {}, talk(Phase::finish, 1)}, {4 * factor}};
  w.backward = {{5 * factor, {0}}, {6 * factor, {1}}};
  w.parameters = {{"a", 16}, {"b", 32}};
  return w;
}

TEST(JointPass, PutsTogetherWhatEndsAlike) {
  const Workload one = made(1), other = made(10);
  const Workload* const parts[] = {&one, &other};
  ASSERT_TRUE(agree_on_gradients(parts));
  const JointPass forward = joint_pass(parts, &Workload::forward), backward = joint_pass(parts, &Workload::backward);
  ASSERT_EQ(forward.size(), 1u) << "no gradients are final in it";
  ASSERT_EQ(forward[0].parts.size(), 2u);
  for (const std::size_t p : {0u, 1u}) {
    const double factor = p == 0 ? 1 : 10;
    const std::vector<PartStretch>& part = forward[0].parts[p];
    ASSERT_EQ(part.size(), 3u);
    EXPECT_EQ(part[0].seconds, 3 * factor) << "what ends with nothing joins the next";
    EXPECT_EQ(part[0].talk, &*parts[p]->forward[1].talk);
    EXPECT_EQ(part[1].seconds, 3 * factor);
    EXPECT_EQ(part[1].talk, &*parts[p]->forward[2].talk);
    EXPECT_EQ(part[2].seconds, 4 * factor);
    EXPECT_EQ(part[2].talk, nullptr);
  }
  ASSERT_EQ(backward.size(), 3u);
  EXPECT_EQ(backward[1].parts[1].at(0).seconds, 60);
  EXPECT_EQ(std::vector(backward[1].final_parameters.begin(), backward[1].final_parameters.end()), std::vector{1});
  EXPECT_TRUE(backward[2].parts[0].empty());
}

TEST(JointPass, SeesWhatDiffers) {
  const Workload one = made(1);
  const auto agrees = [&](auto change) {
    Workload other = made(2);
    change(other);
    const Workload* const parts[] = {&one, &other};
    return agree_on_gradients(parts);
  };
  EXPECT_TRUE(agrees([](Workload&) {}));
  EXPECT_TRUE(agrees([](Workload& w) { w.forward.erase(w.forward.begin() + 1, w.forward.begin() + 3); }))
      << "each may talk in its own way";
  EXPECT_FALSE(agrees([](Workload& w) { w.backward[0].final_parameters = {0, 1}; }));
  EXPECT_FALSE(agrees([](Workload& w) { std::swap(w.backward[0], w.backward[1]); }));
  EXPECT_FALSE(agrees([](Workload& w) { w.parameters[0].count = 32; }));
  EXPECT_FALSE(agrees([](Workload& w) { w.parameters[0].trained = false; }));
}

}  // namespace
}  // namespace isobar::sim
