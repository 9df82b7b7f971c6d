// A run watched from another terminal: while it runs, after its end, and when it was killed, resumed or replaced.
#include "isobar/record/watch.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"

namespace isobar::record {
namespace {

using namespace isobar::tests;
namespace fs = std::filesystem;

constexpr double written_at = 1'800'000'000;  // 2027-01-15 08:00:00 UTC

// A run of 2 epochs with 4 steps of half a second; its files seem to be written at one fixed time.
class WatchWrittenRun {
 public:
  explicit WatchWrittenRun(fs::path folder) : folder_(std::move(folder)) {}

  void begin(std::int64_t first = 0) {
    disk::write_text(folder_ / "recipe.toml",
                     "model = \"cosmoflow(size=32)\"\n[train]\nepochs = 2\nmetrics = [\"mae\"]\n");
    disk::write_text(folder_ / "run.json",
                     R"({"epochs": 2, "steps_per_epoch": 4, "train_samples": 8, "test_samples": 3,
                                         "peaks": {"flops_per_second": 4e9}})");
    sink_ = json_lines();
    train::Start start;
    start.folder = folder_;
    start.first_step = first;
    start.parameters = 1000;
    start.flops_per_sample = 5e8;
    start.threads = 2;
    sink_->start(start);
    step_ = first;
  }
  void steps(int count, double seconds = 0.5) {
    for (int i = 0; i < count; ++i) {
      ++step_;
      sink_->step({step_, (step_ - 1) / 4 + 1, (step_ - 1) % 4 + 1, 2, 0.25, 1e-3, seconds, 0.125, 0, 0});
      if (step_ % 4 == 0) sink_->epoch({step_ / 4, step_, 0.25, {{"loss", 0.5}, {"mae", 0.125}}, 4 * seconds, 1});
    }
    sink_->checkpoint({folder_ / "checkpoints/step_000004.h5", step_, 5e6, 0.1});
    stamp();
  }
  void end(train::End::Reason reason = train::End::Reason::finished) {
    sink_->end({reason, step_, 6, {{"loss", 0.5}, {"mae", 0.125}}});
    stamp();
  }

 private:
  void stamp() {
    disk::flush_late_files();
    const auto time = std::chrono::file_clock::from_sys(
        std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(written_at))));
    for (const char* name : {"metrics.jsonl", "timing.jsonl"}) fs::last_write_time(folder_ / name, time);
  }

  fs::path folder_;
  std::unique_ptr<train::Sink> sink_;
  std::int64_t step_ = 0;
};

struct WatchShown {
  bool ended = false;
  std::string text;
};

// Between two looks, 1 s passes and `meanwhile` is called with their number, starting at 1, until it returns false.
WatchShown watched(const fs::path& folder, const std::function<bool(int)>& meanwhile, bool terminal = false,
                   bool once = false, double now = written_at + 1) {
  Capture capture;
  double time = 0;
  int looks = 0;
  const WatchSetting setting{once, [&] { return now + time; },
                             [&] {
                               time += 1;
                               return meanwhile(++looks);
                             }};
  Screen screen{capture.file(), terminal, [] { return 200; }, [&] { return time; }};
  const bool ended = watch(folder, std::move(screen), setting);
  return {ended, capture.text()};
}

const std::string heading =
    "cosmoflow(size=32): 1,000 parameters\n"
    "8 training samples, 3 for testing; 2 epochs of 4 steps\n"
    "memory: 0 B for activations, 0 B for weights, gradients and optimizer, 0 B for checkpoints; 2 threads\n";
const std::string first_epoch =
    "epoch 1/2  3.0 s  4 samples/s  2.00 GF/s (50 % of peak)  train loss 0.25  test loss 0.5  mae 0.125\n";

std::string ending(const fs::path& folder) {
  return "finished 8 steps in 6.0 s  test loss 0.5  mae 0.125\nthe run is in " + folder.string() +
         ", its weights in checkpoints/step_000004.h5 (5.00 MB)\n";
}

TEST(Watch, AFinishedRunIsToldAndThatIsAll) {
  const TemporaryFolder folder;
  WatchWrittenRun run(folder.path());
  run.begin();
  run.steps(8);
  run.end();
  const WatchShown shown = watched(folder.path(), [](int) { return false; });
  EXPECT_TRUE(shown.ended);
  std::string second = first_epoch;
  second.replace(6, 1, "2");
  EXPECT_EQ(shown.text, heading + first_epoch + second + ending(folder.path()));
}

TEST(Watch, ARunIsFollowedToItsEnd) {
  const TemporaryFolder folder;
  WatchWrittenRun run(folder.path());
  run.begin();
  run.steps(2);
  const WatchShown shown = watched(
      folder.path(),
      [&](int look) {
        if (look == 1) run.steps(1);
        if (look == 2) run.steps(2);
        if (look == 3) run.steps(3), run.end();
        return look < 4;
      },
      /*terminal=*/true);
  EXPECT_TRUE(shown.ended);
  // As the run itself shows it.
  EXPECT_NE(
      shown.text.find("\repoch 1/2 [====>           ] step 2/4  loss 0.25  4 samples/s  2.00 GF/s (50 % of peak)  "
                      "I/O wait 25 %  left 3 s\x1b[K\repoch 1/2 [======>         ] step 3/4"),
      std::string::npos)
      << shown.text;
  EXPECT_NE(shown.text.find("\r\x1b[K" + first_epoch), std::string::npos) << shown.text;
  EXPECT_NE(shown.text.find("\repoch 2/2 [==========>     ] step 1/4  loss 0.25  mae 0.125"), std::string::npos)
      << shown.text;
  EXPECT_TRUE(shown.text.ends_with(ending(folder.path()))) << shown.text;
}

TEST(Watch, ARunThatBeginsLaterIsWaitedFor) {
  const TemporaryFolder folder;
  const fs::path later = folder / "later";
  WatchWrittenRun run(later);
  const WatchShown shown = watched(later, [&](int look) {
    if (look == 2) fs::create_directory(later);
    if (look == 3) run.begin();
    if (look == 4) run.steps(8), run.end();
    return look < 6;
  });
  EXPECT_TRUE(shown.ended);
  EXPECT_TRUE(shown.text.starts_with("waiting for the first step of a run in " + later.string() + "\n" + heading))
      << shown.text;
  EXPECT_EQ(shown.text.find("waiting", 1), std::string::npos) << shown.text;
}

TEST(Watch, StoppingLeavesNoHalfLine) {
  const TemporaryFolder folder;
  WatchWrittenRun run(folder.path());
  run.begin();
  run.steps(3);
  const WatchShown shown = watched(
      folder.path(), [](int) { return false; }, /*terminal=*/true);
  EXPECT_FALSE(shown.ended);
  EXPECT_TRUE(shown.text.ends_with("\r\x1b[K")) << shown.text;
}

TEST(Watch, AKilledRunIsSaidToBeSilent) {
  const TemporaryFolder folder;
  WatchWrittenRun run(folder.path());
  run.begin();
  run.steps(3);
  const auto few = [](int look) { return look < 4; };
  const std::string silence =
      "nothing was written for 1:01, since 2027-01-15 08:00:00 UTC: the run was killed or hangs";
  const WatchShown plain = watched(folder.path(), few, false, false, written_at + 60);
  EXPECT_FALSE(plain.ended);
  // Its last state first, then the message once.
  const std::size_t at = plain.text.find("step 3/4  loss 0.25");
  ASSERT_NE(at, std::string::npos) << plain.text;
  EXPECT_NE(plain.text.find(silence + "\n", at), std::string::npos) << plain.text;
  EXPECT_EQ(plain.text.find("nothing", plain.text.find("nothing") + 1), std::string::npos) << plain.text;
  const WatchShown live = watched(folder.path(), few, true, false, written_at + 60);
  EXPECT_NE(live.text.find("\r" + silence + "\x1b[K"), std::string::npos) << live.text;
  EXPECT_NE(live.text.find("\rnothing was written for 1:03, since"), std::string::npos) << live.text;
}

TEST(Watch, OnceTellsTheStateAndEnds) {
  const TemporaryFolder folder;
  WatchWrittenRun run(folder.path());
  run.begin();
  run.steps(7);
  const auto never = [](int) -> bool { throw std::logic_error("waited"); };
  const WatchShown shown = watched(folder.path(), never, false, true, written_at + 5);
  EXPECT_FALSE(shown.ended);
  EXPECT_EQ(shown.text,
            heading + first_epoch +
                "epoch 2/2 [==============> ] step 3/4  loss 0.25  mae 0.125  4 samples/s  2.00 GF/s (50 % of peak)  "
                "I/O wait 25 %  left 2 s\n"
                "last written at 2027-01-15 08:00:00 UTC\n");
  run.steps(1);
  run.end();
  const WatchShown ended = watched(folder.path(), never, false, true);
  EXPECT_TRUE(ended.ended);
  EXPECT_TRUE(ended.text.ends_with("mae 0.125\n" + ending(folder.path()))) << ended.text;
}

TEST(Watch, OnceWantsARun) {
  const TemporaryFolder folder;
  const auto never = [](int) { return false; };
  EXPECT_THROW(watched(folder.path(), never, false, true), Error);
  disk::write_text(folder / "recipe.toml", "model = \"cosmoflow\"\n");
  EXPECT_EQ(watched(folder.path(), never, false, true).text,
            "the run in " + folder.path().string() + " has written no step yet\n");
}

TEST(Watch, AResumedRunGoesOnWithoutRepeatingItself) {
  const TemporaryFolder folder;
  WatchWrittenRun run(folder.path());
  run.begin();
  run.steps(6);
  const WatchShown shown = watched(folder.path(), [&](int look) {
    if (look == 1) run.begin(5), run.steps(3, 0.75), run.end();
    return look < 4;
  });
  EXPECT_TRUE(shown.ended);
  EXPECT_TRUE(shown.text.starts_with(heading + first_epoch + "resumed after step 5 of 8\nepoch 2/2  4.0 s  "))
      << shown.text;
  EXPECT_EQ(shown.text.find("epoch 1/2", shown.text.find("resumed")), std::string::npos) << shown.text;
}

TEST(Watch, ARunThatReplacesAnotherIsToldFromItsBeginning) {
  const TemporaryFolder folder;
  WatchWrittenRun run(folder.path());
  run.begin();
  run.steps(6);
  const WatchShown shown = watched(folder.path(), [&](int look) {
    if (look == 1) run.begin(), run.steps(8, 0.75), run.end();
    return look < 4;
  });
  EXPECT_TRUE(shown.ended);
  const std::string anew = "the run in " + folder.path().string() + " was started again\n";
  EXPECT_TRUE(shown.text.starts_with(heading + first_epoch + anew + heading + "epoch 1/2  4.0 s  ")) << shown.text;
}

TEST(Watch, AnInterruptedRunEndsToo) {
  const TemporaryFolder folder;
  WatchWrittenRun run(folder.path());
  run.begin();
  run.steps(3);
  run.end(train::End::Reason::interrupted);
  const WatchShown shown = watched(folder.path(), [](int) { return false; });
  EXPECT_TRUE(shown.ended);
  EXPECT_NE(shown.text.find("interrupted after 3 of 8 steps, 6.0 s\n"), std::string::npos) << shown.text;
}

}  // namespace
}  // namespace isobar::record
