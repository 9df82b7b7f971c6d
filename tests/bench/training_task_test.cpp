#include "isobar/bench/training_task.hpp"

#include <gtest/gtest.h>

#include "isobar/base/config.hpp"
#include "isobar/datasets/dataset.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::bench {
namespace {

TEST(TrainingTask, MakesFilesThatCanBeReadAndARecipe) {
  for (TrainingTask task : training_tasks()) {
    const tests::TemporaryFolder folder;
    task.train = 12;
    task.test = 4;
    make_files(task, folder.path());
    const Spec recipe = parse_recipe(recipe_text(task, folder.path()), "test");
    const auto dataset = datasets::make_dataset(Spec("hdf5", {{"path", (folder.path() / "train.h5").string()}}));
    ASSERT_EQ(dataset->size(), 12);
    std::vector<std::vector<float>> first, second;
    for (const datasets::Field& field : dataset->fields()) {
      first.emplace_back(static_cast<std::size_t>(field.shape.count()));
      second.emplace_back(static_cast<std::size_t>(field.shape.count()));
    }
    const std::vector<std::span<float>> a(first.begin(), first.end()), b(second.begin(), second.end());
    dataset->read(0, a);
    dataset->read(1, b);
    EXPECT_NE(first, second);
    EXPECT_NE(first[1], second[1]) << "and not the same target";
  }
}

TEST(TrainingTask, KnowsWhatIsGoodEnough) {
  TrainingTask task;
  task.wanted = 0.5;
  task.metric = "accuracy";
  EXPECT_TRUE(task.good_enough(0.5));
  EXPECT_FALSE(task.good_enough(0.4));
  task.metric = "loss";
  EXPECT_TRUE(task.good_enough(0.4));
  EXPECT_FALSE(task.good_enough(0.6));
}

}  // namespace
}  // namespace isobar::bench
