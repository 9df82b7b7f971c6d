#include "isobar/base/error.hpp"

#include <gtest/gtest.h>

namespace isobar {
namespace {

TEST(Error, FailFormatsItsMessage) {
  try {
    fail("conv '{}': x has {} channels, w expects {}", "stem", 3, 4);
    FAIL() << "nothing was thrown";
  } catch (const UsageError&) {
    FAIL() << "a machine's fault is no usage error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "conv 'stem': x has 3 channels, w expects 4");
  }
}

TEST(Error, UsageErrorsAreErrorsToo) {
  EXPECT_THROW(fail_usage("no {}", 1), UsageError);
  EXPECT_THROW(fail_usage("no {}", 1), Error);
}

TEST(Error, ExpectsNamesThePlace) {
  EXPECT_NO_THROW(expects(true, "nothing"));
  try {
    expects(false, "a row of the tensor");
    FAIL() << "nothing was thrown";
  } catch (const Error&) {
    FAIL() << "a programmer's fault is not shown as the user's";
  } catch (const std::logic_error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("error_test.cpp"), std::string::npos) << said;
    EXPECT_NE(said.find("expected a row of the tensor"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace isobar
