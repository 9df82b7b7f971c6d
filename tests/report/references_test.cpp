#include "isobar/report/references.hpp"

#include <set>

#include <gtest/gtest.h>

namespace isobar::report {
namespace {

TEST(References, AreSoundEachOnce) {
  std::set<std::string_view> networks;
  for (const Reference& reference : references()) {
    EXPECT_TRUE(networks.insert(reference.network).second) << reference.network;
    EXPECT_FALSE(reference.source.empty()) << reference.network;
    EXPECT_EQ(reference.result.empty(), reference.metric.empty()) << reference.network;
    EXPECT_EQ(reference.target().has_value(), !reference.result.empty()) << reference.network;
  }
}

TEST(References, OfMlperf) {
  ASSERT_NE(reference_of("cosmoflow"), nullptr);
  EXPECT_EQ(reference_of("cosmoflow")->target()->str(), "mae<=0.124");
  EXPECT_TRUE(reference_of("deepcam")->target()->reached(0.82));
  EXPECT_FALSE(reference_of("deepcam")->target()->reached(0.81));
  EXPECT_EQ(reference_of("no such network"), nullptr);
}

}  // namespace
}  // namespace isobar::report
