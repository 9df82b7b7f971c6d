// What `isobar doctor` shows about the parts of this build.
#include "isobar/machine/parts.hpp"

#include <gtest/gtest.h>

namespace isobar::machine {
namespace {

TEST(Parts, AreListedWithWhatBringsTheMissing) {
  const BuiltPart some[] = {{"LMDB", true, "read and written"},
                            {"NetCDF", false, "not written (libnetcdf-dev brings it)"}};
  EXPECT_EQ(describe(some),
            "  LMDB           read and written\n"
            "  NetCDF         missing: not written (libnetcdf-dev brings it)\n");
}

TEST(Parts, OfThisBuildAreTold) {
  std::string names;
  for (const BuiltPart& part : parts()) {
    names += std::string(part.name) + " ";
    EXPECT_FALSE(part.text.empty()) << part.name;
    EXPECT_EQ(part.text.find(';'), std::string_view::npos) << part.text;
    EXPECT_TRUE(part.built || part.name != "tests");
  }
  EXPECT_NE(names.find("simulator NetCDF LMDB ONNX Fourier tests "), std::string::npos) << names;
}

}  // namespace
}  // namespace isobar::machine
