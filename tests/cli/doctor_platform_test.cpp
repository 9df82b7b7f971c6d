// What doctor measures is a platform that isobar-sim accepts.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/capture.hpp"
#include "tests/cli/program.hpp"

namespace {

using isobar::tests::text_of;

TEST(DoctorPlatform, IsAPlatformForForecasts) {
  const TemporaryFolder folder;
  const std::string file = folder / "this.toml";
  const Outcome doctor = run_isobar("doctor --platform " + file);
  EXPECT_EQ(doctor.code, 0) << doctor;
  EXPECT_SHOWS(doctor, "written: " + file);
  const std::string text = text_of(file);
  for (const char* key : {"gflops = ", "memory_gb_s = ", "measured", "assumed"})
    EXPECT_NE(text.find(key), std::string::npos) << text;
  const auto simulator = std::filesystem::path(ISOBAR_PROGRAM).parent_path() / "isobar-sim";
  const Outcome forecast = run_command(simulator.string() + " forecast --model 'cosmoflow(size=32)' --platform " +
                                       file + " --ranks 1,4 --steps 2");
  EXPECT_EQ(forecast.code, 0) << forecast;
  EXPECT_SHOWS(forecast, "Weak scaling");
}

TEST(DoctorPlatform, NeedsMeasuring) { EXPECT_EQ(run_isobar("doctor --quick --platform x.toml").code, 2); }

}  // namespace
