// CheckpointWriter alone: in the background and in the foreground, and what it reports about a failing disk.
#include "isobar/checkpoint/checkpoint_writer.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/checkpoint/small_network.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::checkpoint {
namespace {

using namespace isobar::tests;

class WriterTest : public testing::Test {
 protected:
  WriterTest() { shelf_.tidy(); }
  void save(CheckpointWriter& writer, std::int64_t step, SaveAs as = {}) const {
    take_snapshot(writer.draft(), store_, {.step = step}, {});
    writer.start(as);
  }

  const TemporaryFolder folder_;
  const CheckpointShelf shelf_{folder_.path(), 2};
  const exec::ParamStore store_{graph::make_plan(small_network(2)), 0};
};

TEST_F(WriterTest, TellsWhatWasWrittenOnceAndInOrder) {
  for (const bool background : {false, true}) {
    CheckpointWriter writer(shelf_, background);
    const std::int64_t first = background ? 13 : 3;
    for (const std::int64_t step : {first, first + 1}) {
      save(writer, step, {.best = step == first + 1});
      if (!background) {
        EXPECT_FALSE(writer.busy());
      }
      writer.wait();
      EXPECT_EQ(CheckpointFile(shelf_.list()[0].file).position().step, step);
    }
    const std::vector<SaveOutcome> outcomes = writer.outcomes();
    ASSERT_EQ(outcomes.size(), 2u);
    EXPECT_EQ(outcomes[0].step, first);
    EXPECT_EQ(outcomes[1].problem, "");
    EXPECT_GT(outcomes[1].bytes, 0);
    EXPECT_TRUE(writer.outcomes().empty());
    EXPECT_TRUE(std::filesystem::exists(shelf_.best_file()));
  }
}

TEST_F(WriterTest, ADiskThatFailsIsTold) {
  CheckpointWriter writer(shelf_, true, [](const std::filesystem::path& file, const Snapshot&) -> std::uintmax_t {
    fail("{}: no space", file.string());
  });
  save(writer, 7);
  writer.wait();
  const std::vector<SaveOutcome> outcomes = writer.outcomes();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_NE(outcomes[0].problem.find("no space"), std::string::npos);
  EXPECT_TRUE(shelf_.list().empty());
}

}  // namespace
}  // namespace isobar::checkpoint
