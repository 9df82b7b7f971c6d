#include "isobar/base/bytes.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar {
namespace {

TEST(Bytes, ReadsDecimalAndBinaryUnits) {
  EXPECT_EQ(read_bytes("4GB", "memory"), 4'000'000'000u);
  EXPECT_EQ(read_bytes("1.5 GiB", "memory"), 1'610'612'736u);
  EXPECT_EQ(read_bytes("800MB", "memory"), 800'000'000u);
  EXPECT_EQ(read_bytes("2kB", "memory"), 2000u);
  EXPECT_EQ(read_bytes("4096", "memory"), 4096u);
}

TEST(Bytes, RefusesWhatIsNoAmount) {
  for (const char* text :
       {"", "GB", "4 gigs", "4gb", "-1GB", "0", "nan", "inf", "1e30GB", "99999999999TB", "4GB of it"})
    EXPECT_THROW(read_bytes(text, "memory"), UsageError) << text;
}

TEST(Bytes, NamesWhatIsWrong) {
  try {
    read_bytes("much", "train.memory");
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("train.memory = 'much'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace isobar
