#include "isobar/train/recent.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::train {
namespace {

class Told final : public Sink {
 public:
  void step(const StepDone& done) override { text += fmt::format("{} ", done.step); }
  void epoch(const EpochDone& done) override { text += fmt::format("e{} ", done.epoch); }
  std::string text;
};

std::string told(const Recent& recent, const Reached& reached) {
  Told sink;
  recent.tell(sink, reached);
  return sink.text;
}

Recent two_epochs() {
  Recent recent;
  for (const std::int64_t step : {1, 2, 3}) recent.add(StepDone{.step = step, .loss = 0.1 * static_cast<double>(step)});
  recent.add(EpochDone{.epoch = 1, .step = 3, .train_loss = 0.1, .test = {{"mae", std::nan("")}, {"r2", 1.0 / 3}}});
  for (const std::int64_t step : {4, 5}) recent.add(StepDone{.step = step});
  recent.add(EpochDone{
      .epoch = 2, .step = 5, .skipped = 3, .bad = {2, 1, 0.5}, .validation = {{"mae", 0.1}}, .validation_skipped = 2});
  return recent;
}

TEST(Recent, TellsWhatASinkLacksInOrder) {
  const Recent recent = two_epochs();
  EXPECT_EQ(told(recent, {}), "1 2 3 e1 4 5 e2 ");
  EXPECT_EQ(told(recent, {2, 0}), "3 e1 4 5 e2 ");
  EXPECT_EQ(told(recent, {3, 0}), "e1 4 5 e2 ");
  EXPECT_EQ(told(recent, {3, 1}), "4 5 e2 ");
  EXPECT_EQ(told(recent, {5, 2}), "");
  EXPECT_EQ(told(Recent(), {}), "");
}

TEST(Recent, ARunThatWentBackForgetsWhatFollowed) {
  Recent recent = two_epochs();
  recent.add(StepDone{.step = 3});
  EXPECT_EQ(told(recent, {}), "1 2 3 ");
}

TEST(Recent, IsBounded) {
  Recent recent;
  const auto most = static_cast<std::int64_t>(Recent::most_steps);
  for (std::int64_t step = 1; step <= most + 10; ++step) {
    recent.add(StepDone{.step = step});
    recent.add(EpochDone{.epoch = step, .step = step});
  }
  EXPECT_EQ(recent.steps().size(), Recent::most_steps);
  EXPECT_EQ(recent.steps().front().step, 11);
  EXPECT_EQ(recent.epochs().size(), Recent::most_epochs);
}

TEST(Recent, TravelsAsItIs) {
  const Recent recent = Recent::unpack(two_epochs().pack());
  EXPECT_EQ(told(recent, {}), "1 2 3 e1 4 5 e2 ");
  EXPECT_EQ(recent.steps()[1].loss, 0.1 * 2);
  EXPECT_EQ(recent.epochs()[0].test.at("r2"), 1.0 / 3);
  EXPECT_TRUE(std::isnan(recent.epochs()[0].test.at("mae")));
  EXPECT_FALSE(recent.epochs()[0].skipped);
  EXPECT_EQ(recent.epochs()[1].skipped, 3);
  EXPECT_TRUE(recent.epochs()[0].validation.empty());
  EXPECT_EQ(recent.epochs()[1].validation, (std::map<std::string, double>{{"mae", 0.1}}));
  EXPECT_EQ(recent.epochs()[1].validation_skipped, 2);
  EXPECT_EQ(recent.epochs()[1].bad.str(), two_epochs().epochs()[1].bad.str());
  EXPECT_EQ(told(Recent::unpack(Recent().pack()), {}), "");
}

}  // namespace
}  // namespace isobar::train
