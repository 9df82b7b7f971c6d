#include "isobar/train/checkpoint.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/files/hdf5_file.hpp"

#include "tests/train/small_job.hpp"

namespace isobar::train {
namespace {

exec::ParamStore store_for(const char* model, int slots) {
  return exec::ParamStore(graph::make_plan(dense_model(model, {}).graph(2)), slots);
}

TEST(Checkpoint, BringsBackEveryNumber) {
  const TemporaryFolder folder;
  exec::ParamStore a = store_for("dense_net", 2), b = store_for("dense_net", 2);
  a.initialize(3);
  for (int p = 0; p < a.count(); ++p)
    for (float& v : a.slot(p, 1)) v = 0.25f;
  const Position position{17, 2, 3, 1.5, 12};
  write_checkpoint(folder.path() / "c.h5", a, position, "recipe text");
  const Position back = read_checkpoint(folder.path() / "c.h5", b);
  EXPECT_EQ(back.step, 17);
  EXPECT_EQ(back.step_in_epoch, 3);
  EXPECT_EQ(back.loss_sum, 1.5);
  for (int p = 0; p < a.count(); ++p) {
    EXPECT_TRUE(std::equal(a.weight(p).begin(), a.weight(p).end(), b.weight(p).begin()));
    EXPECT_TRUE(std::equal(a.slot(p, 1).begin(), a.slot(p, 1).end(), b.slot(p, 1).begin()));
  }
  const files::Hdf5File file = files::Hdf5File::open(folder.path() / "c.h5");
  EXPECT_EQ(file.shape("weights/fc1.w"), (Shape{8, 72}));
  EXPECT_EQ(file.text("/", "recipe"), "recipe text");
}

TEST(Checkpoint, RefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "c.h5";
  write_checkpoint(file, store_for("dense_net", 2), {}, "");
  exec::ParamStore other_size = store_for("dense_net(hidden=9)", 2), other_rule = store_for("dense_net", 1);
  EXPECT_THROW(read_checkpoint(file, other_size), Error);
  EXPECT_THROW(read_checkpoint(file, other_rule), Error);
  EXPECT_THROW(read_checkpoint(folder.path() / "none.h5", other_size), Error);
  std::ofstream(folder.path() / "garbage.h5") << "not HDF5 at all";
  EXPECT_THROW(read_checkpoint(folder.path() / "garbage.h5", other_size), Error);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  exec::ParamStore same = store_for("dense_net", 2);
  EXPECT_THROW(read_checkpoint(file, same), Error);
}

TEST(Checkpoint, HoldsWhatAStrategyHasUnderWay) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "c.h5";
  exec::ParamStore a = store_for("dense_net", 0), b = store_for("dense_net", 0);
  std::vector<float> block(a.all_gradients().size()), back(block.size());
  std::vector<double> numbers{3, 0.1}, numbers_back(2);
  for (int p = 0; p < a.count(); ++p)
    for (std::size_t i = 0; i < a.gradient(p).size(); ++i) block[a.offset(p) + i] = static_cast<float>(i + 1);
  const Kept kept{{{"pending", block}}, numbers}, kept_back{{{"pending", back}}, numbers_back};
  write_checkpoint(file, a, {}, "", kept);
  read_checkpoint(file, b, kept_back);
  EXPECT_EQ(back, block);
  EXPECT_EQ(numbers_back, numbers);
  EXPECT_THROW(read_checkpoint(file, b), Error);  // a strategy that knows nothing of it
  EXPECT_THROW(read_checkpoint(file, b, {{{"other", back}}, numbers_back}), Error);

  // Nothing under way: any strategy may go on, and one that keeps something begins with nothing.
  std::ranges::fill(numbers, 0.0);
  write_checkpoint(file, a, {}, "", kept);
  read_checkpoint(file, b);
  std::vector<float> untouched(block.size(), 0);
  std::vector<double> zeros(2);
  read_checkpoint(file, b, {{{"pending", untouched}}, zeros});
  EXPECT_EQ(untouched, std::vector<float>(block.size(), 0));
}

}  // namespace
}  // namespace isobar::train
