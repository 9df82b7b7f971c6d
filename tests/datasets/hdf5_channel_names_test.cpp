#include "isobar/datasets/hdf5_channel_names.hpp"

#include <numeric>

#include "isobar/datasets/format.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

using Names = std::vector<std::string>;

// A climate state of a few pixels with `channels` channels, numbered as in `list` if there is one.
Names names_of(const std::filesystem::path& path, std::int64_t channels, const std::vector<std::int32_t>& list,
               const std::string& chosen = "") {
  const Shape shape{2, 3, channels};
  const std::vector<float> x(static_cast<std::size_t>(shape.count())), y(6);
  hdf5::Hdf5File file = hdf5::Hdf5File::create(path);
  file.write<float>("climate/data", shape, x);
  file.write<float>("climate/labels_0", Shape{2, 3}, y);
  if (!list.empty()) file.write<std::int32_t>("climate/channels", Shape{static_cast<std::int64_t>(list.size())}, list);
  file.commit(false);
  return make_dataset("hdf5(path='" + path.string() + "', layout=climate" + chosen + ")")->channels();
}

TEST(Hdf5ChannelNames, OfClimateStates) {
  const TemporaryFolder folder;
  const Names all = names_of(folder / "all.h5", 16, {});
  ASSERT_EQ(all.size(), 16u);
  EXPECT_EQ(all[0], "TMQ");
  EXPECT_EQ(all[15], "ZBOT");
  EXPECT_EQ(names_of(folder / "chosen.h5", 16, {}, ", channels=[7, 0]"), (Names{"PSL", "TMQ"}));
  EXPECT_EQ(names_of(folder / "listed.h5", 3, {0, 2, 10}), (Names{"TMQ", "V850", "PRECT"}));
  EXPECT_EQ(names_of(folder / "both.h5", 3, {0, 2, 10}, ", channels=10"), (Names{"PRECT"}));
  EXPECT_EQ(names_of(folder / "unknown.h5", 3, {}), Names{});
  EXPECT_EQ(names_of(folder / "wrong.h5", 2, {0, 99}), Names{});
}

TEST(Hdf5ChannelNames, AreWrittenAndReadBack) {
  const TemporaryFolder folder;
  const Outline outline{{{"x", Shape{2, 2}}, {"y", Shape{1}}}, 1, {}, {"wind", "sea level"}};
  for (const char* format : {"hdf5", "hdf5(gzip=1)"}) {
    const auto writer = make_writer(format, folder / "named.h5", outline);
    const std::vector<float> x{1, 2, 3, 4}, y{0};
    const std::vector<std::span<const float>> fields{x, y};
    writer->write(fields);
    writer->finish();
    const Spec spec("hdf5", {{"path", (folder / "named.h5").string()}});
    EXPECT_EQ(make_dataset(spec)->channels(), (Names{"wind", "sea level"}));
    std::filesystem::remove(folder / "named.h5");
  }
}

}  // namespace
}  // namespace isobar::datasets
