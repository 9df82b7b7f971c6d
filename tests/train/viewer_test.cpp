#include "isobar/train/viewer.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/train/recorder.hpp"

namespace isobar::train {
namespace {

// Views samples when the run ends, as pictures do.
class Spectator final : public Sink {
 public:
  explicit Spectator(std::function<void(const End&)> look) : look_(std::move(look)) {}
  void end(const End& end) override { look_(end); }

 private:
  std::function<void(const End&)> look_;
};

TEST(Viewer, ShowsWhatTheEvaluationPredicted) {
  const TemporaryFolder folder;
  int seen = 0;
  Spectator spectator([&](const End& end) {
    ASSERT_NE(end.viewer, nullptr);
    for (std::int64_t i = 0; i < 10; ++i) {
      const View look = end.viewer->look(i);
      EXPECT_EQ(look.prediction.shape, Shape({3}));
      EXPECT_EQ(look.fields.at("x").shape, Shape({6, 6, 2}));
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t at = static_cast<std::size_t>(i) * 3 + c;
        EXPECT_NEAR(look.prediction.numbers[c], end.predictions[at], 1e-6f);
        EXPECT_EQ(look.fields.at("y").numbers[c], end.targets[at]);
      }
      EXPECT_GT(look.loss, 0);
      ++seen;
    }
  });
  Trainer trainer(small_job(folder.path() / "run"), {&spectator});
  trainer.run();
  EXPECT_EQ(seen, 10);
}

TEST(Viewer, PredictsInputsThatAreMadeUp) {
  const TemporaryFolder folder;
  Spectator spectator([&](const End& end) {
    const View look = end.viewer->look(2);
    EXPECT_EQ(end.viewer->predict({{"x", look.fields.at("x")}}).numbers, look.prediction.numbers);
    EXPECT_NE(end.viewer->predict({}).numbers, look.prediction.numbers);
    EXPECT_THROW(end.viewer->predict({{"x", {Shape({6, 6}), std::vector<float>(36)}}}), Error);
  });
  Trainer trainer(small_job(folder.path() / "run"), {&spectator});
  trainer.run();
}

// Sinks are for rank 0, unless they say otherwise.
class Everywhere final : public Sink {
 public:
  bool on_every_rank() const override { return true; }
  void start(const Start& start) override { rank = start.rank; }
  void step(const StepDone&) override { ++steps; }
  void end(const End&) override { ended = true; }

  int rank = -1, steps = 0;
  bool ended = false;
};

TEST(Sink, MayListenOnEveryRank) {
  const TemporaryFolder folder;
  std::array<Everywhere, 2> sinks;
  comm::run_ranks(2, [&](comm::Comm& comm) {
    omp_set_num_threads(1);
    Trainer trainer(small_job(folder.path() / "run"), comm, {&sinks[static_cast<std::size_t>(comm.rank())]});
    trainer.run();
  });
  for (int rank = 0; rank < 2; ++rank) {
    const Everywhere& sink = sinks[static_cast<std::size_t>(rank)];
    EXPECT_EQ(sink.rank, rank);
    EXPECT_EQ(sink.steps, rank == 0 ? 15 : 0);
    EXPECT_TRUE(sink.ended);
  }
}

}  // namespace
}  // namespace isobar::train
