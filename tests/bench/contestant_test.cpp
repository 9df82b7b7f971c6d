#include "isobar/bench/contestant.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/bench/training_step.hpp"

namespace isobar::bench {
namespace {

TEST(Contestant, SpeaksTheLineProtocol) {
  Contestant c({"sh", "-c",
                "echo ready me; while read a b; do case $a in step) echo 0.5 0.25;; memory) echo 1234;; esac; done"});
  EXPECT_EQ(c.name(), "me");
  EXPECT_EQ(c.steps(2), (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(c.peak_bytes(), 1234);
  EXPECT_THROW(c.steps(3), Error);
}

TEST(Contestant, EndsWhileALaterOneStillRuns) {
  auto first = std::make_unique<Contestant>(std::vector<std::string>{"sh", "-c", "echo ready first; cat > /dev/null"});
  const Contestant second({"sh", "-c", "echo ready second; cat > /dev/null"});
  first.reset();  // would wait forever if the second contestant held the first one's input open
  EXPECT_EQ(second.name(), "second");
}

TEST(Contestant, OneThatIsNotReadyOrDiesIsAnError) {
  EXPECT_THROW(Contestant({"sh", "-c", "echo broken"}), Error);
  EXPECT_THROW(Contestant({"no-such-program-at-all"}), Error);
  Contestant c({"sh", "-c", "echo ready me"});
  EXPECT_THROW(c.steps(1), Error);
}

TEST(TrainingStep, RunsAndIsTraced) {
  TrainingStep step("cosmoflow(size=32)", 1, "sgd");
  EXPECT_GT(step.run(), 0);
  EXPECT_GT(step.trace().total(Category::backward_convolution).seconds, 0);
  EXPECT_FALSE(step.run_traced().empty());
}

}  // namespace
}  // namespace isobar::bench
