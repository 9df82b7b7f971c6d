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

class TakingTurns final : public Sink {
 public:
  TakingTurns(SinkTurn turn, char name, std::string& told) : turn_(turn), name_(name), told_(told) {}
  SinkTurn turn() const override { return turn_; }
  bool on_every_rank() const override { return name_ != 'b'; }
  void start(const Start&) override { told_ += name_; }
  void step(const StepDone&) override { told_ += name_; }
  void end(const End&) override { told_ += name_; }

 private:
  SinkTurn turn_;
  char name_;
  std::string& told_;
};

TEST(Listeners, TellTheirSinksInTurnsHoweverTheyAreListed) {
  std::string told;
  TakingTurns decides(SinkTurn::first, '1', told), a(SinkTurn::usual, 'a', told), b(SinkTurn::usual, 'b', told),
      reads(SinkTurn::reader, 'r', told), sums(SinkTurn::last, '.', told);
  const std::vector<Sink*> listed{&sums, &reads, &a, &decides, &b};
  const Listeners first(listed, /*first_rank=*/true), other(listed, /*first_rank=*/false);
  first.start({});
  first.step({});
  first.end({});
  EXPECT_EQ(told, "1abr.1abr.1abr.");
  told.clear();
  other.start({});
  EXPECT_EQ(told, "1ar.");
}

}  // namespace
}  // namespace isobar::train
