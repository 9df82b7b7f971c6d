// Sub-cubes come in C order and together are the whole.
#include "isobar/worlds/cut.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

TEST(Cut, parts_come_in_c_order_and_are_the_whole) {
  const int mesh = 8, channels = 3, part = 4;
  std::vector<float> volume(mesh * mesh * mesh * channels);
  std::iota(volume.begin(), volume.end(), 0.0f);
  ASSERT_EQ(parts_in(mesh, part), 8);
  std::vector<float> out(part * part * part * channels);
  for (int i = 0; i < 8; ++i) {
    cut(volume, mesh, channels, part, i, out);
    const int x0 = i / 4 * part, y0 = i / 2 % 2 * part, z0 = i % 2 * part;
    for (int x = 0; x < part; ++x)
      for (int y = 0; y < part; ++y)
        for (int z = 0; z < part; ++z)
          for (int c = 0; c < channels; ++c)
            ASSERT_EQ(out[static_cast<std::size_t>(((x * part + y) * part + z) * channels + c)],
                      static_cast<float>((((x0 + x) * mesh + y0 + y) * mesh + z0 + z) * channels + c));
  }
}

TEST(Cut, the_whole_is_its_only_part) {
  std::vector<float> volume(64), out(64);
  std::iota(volume.begin(), volume.end(), 0.0f);
  cut(volume, 4, 1, 4, 0, out);
  EXPECT_EQ(volume, out);
}

TEST(Cut, parts_that_do_not_fit_are_refused) {
  EXPECT_THROW(parts_in(64, 48), UsageError);
  EXPECT_THROW(parts_in(64, 0), UsageError);
  EXPECT_THROW(parts_in(64, 128), UsageError);
  std::vector<float> volume(64), out(8);
  EXPECT_THROW(cut(volume, 4, 1, 2, 8, out), std::logic_error);
}

}  // namespace
}  // namespace isobar::worlds
