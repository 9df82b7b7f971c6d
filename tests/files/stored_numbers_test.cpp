#include "isobar/files/stored_numbers.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace isobar::files {
namespace {

using Kind = Stored::Kind;

template <class T>
std::vector<T> decoded(const Stored& stored, const std::vector<unsigned char>& bytes) {
  std::vector<T> out(bytes.size() / static_cast<std::size_t>(stored.bytes));
  decoder<T>(stored)(reinterpret_cast<const std::byte*>(bytes.data()), out.data(), out.size());
  return out;
}

TEST(StoredNumbers, AreReadInBothByteOrders) {
  const Stored little{Kind::whole, 2, true, false}, big{Kind::whole, 2, true, true};
  EXPECT_EQ(decoded<float>(little, {0x01, 0x00, 0xfe, 0xff}), (std::vector<float>{1, -2}));
  EXPECT_EQ(decoded<float>(big, {0x00, 0x01, 0xff, 0xfe}), (std::vector<float>{1, -2}));
  EXPECT_EQ(decoded<double>({Kind::real, 4, true, true}, {0x3f, 0xc0, 0, 0}), (std::vector<double>{1.5}));
}

TEST(StoredNumbers, ThatDoNotFitBecomeTheNearest) {
  const Stored wide{Kind::whole, 4, true, false}, real{Kind::real, 4, true, false};
  std::array<float, 3> reals{2.75f, -1e9f, 300.0f};
  std::vector<unsigned char> bytes(sizeof reals);
  std::memcpy(bytes.data(), reals.data(), sizeof reals);
  EXPECT_EQ(decoded<std::uint8_t>(real, bytes), (std::vector<std::uint8_t>{2, 0, 255}));
  EXPECT_EQ(decoded<std::int16_t>(wide, {0, 0, 1, 0}), std::vector{std::numeric_limits<std::int16_t>::max()});
}

TEST(StoredNumbers, SayWhatTheyAre) {
  EXPECT_EQ((Stored{Kind::whole, 2, true, false}.str()), "int16");
  EXPECT_EQ((Stored{Kind::real, 4, true, true}.str()), "float32, big-endian");
  EXPECT_EQ(Stored{}.str(), "");
  EXPECT_TRUE((Stored{Kind::whole, 1, false, true}.fits_int16()));
  EXPECT_FALSE((Stored{Kind::whole, 2, false, false}.fits_int16()));
  EXPECT_TRUE(stored_as<float>({Kind::real, 4, true, false}));
  EXPECT_FALSE(stored_as<float>({Kind::real, 4, true, true}));
  EXPECT_EQ(decoder<float>(Stored{}), nullptr);
}

}  // namespace
}  // namespace isobar::files
