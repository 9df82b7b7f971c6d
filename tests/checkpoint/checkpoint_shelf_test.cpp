#include "isobar/checkpoint/checkpoint_shelf.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/checkpoint/small_network.hpp"
#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::checkpoint {
namespace {

using namespace isobar::tests;

class Shelf : public testing::Test {
 protected:
  Shelf() { shelf_.tidy(); }

  void write(std::int64_t step) {
    Snapshot snapshot;
    take_snapshot(snapshot, store_, {.step = step}, {});
    write_checkpoint(shelf_.file_of(step), snapshot);
  }
  std::vector<std::int64_t> steps() const {
    std::vector<std::int64_t> all;
    for (const auto& item : shelf_.list()) all.push_back(item.step);
    return all;
  }
  using Steps = std::vector<std::int64_t>;

  const TemporaryFolder folder_;
  const CheckpointShelf shelf_{folder_.path(), 2};
  const exec::ParamStore store_{graph::make_plan(small_network(2)), 0};
};

TEST_F(Shelf, KnowsItsFilesByTheirNames) {
  EXPECT_TRUE(CheckpointShelf(folder_.path() / "absent").list().empty());
  for (const std::int64_t step : {20, 3, 1'234'567}) write(step);
  for (const char* name :
       {"best.h5", "step_.h5", "step_x1.h5", "step_-3.h5", "step_5.h5.part", "step_99999999999999999999.h5"})
    std::ofstream(shelf_.folder() / name) << "x";
  EXPECT_EQ(steps(), (Steps{1'234'567, 20, 3}));
  EXPECT_EQ(shelf_.file_of(3).filename(), "step_000003.h5");
}

TEST_F(Shelf, TakesTheNewestIntactOneAndSaysWhyNotOthers) {
  EXPECT_FALSE(shelf_.newest_intact().file);
  for (const std::int64_t step : {10, 20, 30, 40}) write(step);
  std::filesystem::resize_file(shelf_.file_of(40), 700);
  {
    std::fstream change(shelf_.file_of(30), std::ios::in | std::ios::out | std::ios::binary);
    change.seekp(-1, std::ios::end).put('#');
  }
  const CheckpointShelf::Found found = shelf_.newest_intact();
  ASSERT_TRUE(found.file);
  EXPECT_EQ(found.file->position().step, 20);
  ASSERT_EQ(found.skipped.size(), 2u);
  EXPECT_HAS(found.skipped[0], "step_000040.h5");
  EXPECT_HAS(found.skipped[0], "not complete");
  EXPECT_HAS(found.skipped[1], "step_000030.h5");
  EXPECT_HAS(found.skipped[1], "damaged");
}

TEST_F(Shelf, KeepsTheNewestAndForgetsWhatIsBehind) {
  for (const std::int64_t step : {10, 20, 30, 40}) write(step);
  shelf_.prune(30);  // ignores checkpoints newer than the one just written
  EXPECT_EQ(steps(), (Steps{40, 30, 20}));
  shelf_.prune(40);
  EXPECT_EQ(steps(), (Steps{40, 30}));
  shelf_.set_aside_after(30);
  EXPECT_EQ(steps(), (Steps{30}));
}

TEST_F(Shelf, TidiesUpWhatAKilledRunLeft) {
  write(10);
  std::ofstream(shelf_.folder() / "step_000020.h5.77-0.part") << "half";
  shelf_.tidy();
  EXPECT_FALSE(std::filesystem::exists(shelf_.folder() / "step_000020.h5.77-0.part"));
  EXPECT_EQ(steps(), (Steps{10}));
}

}  // namespace
}  // namespace isobar::checkpoint
