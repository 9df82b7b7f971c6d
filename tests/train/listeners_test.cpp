#include "isobar/train/listeners.hpp"

#include <gtest/gtest.h>

namespace isobar::train {
namespace {

class Counting final : public Sink {
 public:
  explicit Counting(bool everywhere) : everywhere_(everywhere) {}
  bool on_every_rank() const override { return everywhere_; }
  void start(const Start&) override { told += "s"; }
  void step(const StepDone&) override { told += "1"; }
  void bad_step(const BadStep&) override { told += "b"; }
  void traced(const StepTraced&) override { told += "t"; }
  void epoch(const EpochDone&) override { told += "e"; }
  void checkpoint(const CheckpointDone&) override { told += "c"; }
  void end(const End&) override { told += "."; }

  std::string told;

 private:
  bool everywhere_;
};

void tell_all(const Listeners& listeners) {
  listeners.start({});
  listeners.step({});
  listeners.bad_step({});
  listeners.traced({});
  listeners.epoch({});
  listeners.checkpoints({{}, {}});
  listeners.end({});
}

TEST(Listeners, RankZeroTellsAllOfEverything) {
  Counting one(false), everywhere(true);
  tell_all({{&one, &everywhere}, /*first_rank=*/true});
  EXPECT_EQ(one.told, "s1btecc.");
  EXPECT_EQ(everywhere.told, "s1btecc.");
}

TEST(Listeners, OtherRanksTellThoseThatListenEverywhereOfStartTracesAndEnd) {
  Counting one(false), everywhere(true);
  const Listeners listeners({&one, &everywhere}, /*first_rank=*/false);
  tell_all(listeners);
  EXPECT_EQ(one.told, "");
  EXPECT_EQ(everywhere.told, "st.");
  EXPECT_TRUE(listeners.on_first_rank().empty());
}

}  // namespace
}  // namespace isobar::train
