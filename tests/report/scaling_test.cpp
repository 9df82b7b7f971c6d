#include "isobar/report/scaling.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::report {
namespace {

using namespace isobar::tests;

// A run of 10 steps of `seconds` on `ranks`, whose loss is 1 / (samples used).
std::filesystem::path written_run(const std::filesystem::path& folder, int ranks, int batch, double seconds) {
  std::filesystem::create_directories(folder);
  std::ofstream timing(folder / "timing.jsonl"), metrics(folder / "metrics.jsonl");
  timing << R"({"kind":"start","step":0,"threads":1,"ranks":)" << ranks << R"(,"global_batch":)" << batch << "}\n";
  for (int step = 1; step <= 10; ++step) {
    timing << R"({"kind":"step","step":)" << step << R"(,"samples":)" << batch << R"(,"seconds":)" << seconds
           << R"(,"wait_seconds":0.01,"exchange_seconds":0.02,"bytes_sent":1000})"
           << "\n";
    metrics << R"({"kind":"step","step":)" << step << R"(,"loss":)" << 1.0 / (step * batch) << "}\n";
  }
  timing << R"({"kind":"end","step":10,"seconds":1,"exchange":{"busy_seconds":0.5}})"
         << "\n";
  return folder;
}

TEST(Scaling, StrongAndWeakMeasureDifferently) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> runs{written_run(folder / "1", 1, 8, 1.0),
                                                written_run(folder / "2", 2, 8, 0.625)};
  const auto strong = read_scaling(runs, Scaling::strong);
  EXPECT_NEAR(strong[1].efficiency, 0.8, 1e-12);
  EXPECT_NEAR(strong[1].samples_per_second, 8 / 0.625, 1e-9);
  EXPECT_NEAR(strong[1].exposed_seconds, 0.02, 1e-12);
  EXPECT_NEAR(strong[1].hidden_seconds, 0.03, 1e-12);
  EXPECT_NEAR(strong[1].bytes_per_step, 1000, 1e-9);
  EXPECT_NEAR(read_scaling(runs, Scaling::weak)[1].efficiency, 1.6, 1e-12);
}

TEST(Scaling, LossesAreComparedAfterEqualSamples) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> runs{written_run(folder / "1", 1, 4, 1.0),
                                                written_run(folder / "2", 2, 8, 1.0)};
  const auto weak = read_scaling(runs, Scaling::weak);  // 40 samples, and 80
  EXPECT_NEAR(weak[0].loss, 1.0 / 40, 1e-12);
  EXPECT_NEAR(weak[1].loss, 1.0 / 40, 1e-12);
}

TEST(Scaling, TableAndPictureNameTheKindAndTheBatch) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> folders{written_run(folder / "1", 1, 8, 1.0),
                                                   written_run(folder / "2", 2, 16, 1.25)};
  const auto runs = read_scaling(folders, Scaling::weak);
  const std::string table = scaling_table(runs, Scaling::weak);
  EXPECT_HAS(table, "Weak scaling");
  EXPECT_HAS(table, "80.0%");
  EXPECT_HAS(scaling_csv(runs, Scaling::weak), "weak,2,1,16,10,1.25,12.8,0.8,");
  EXPECT_HAS(scaling_svg(runs, Scaling::weak), "ranks, weak scaling");
}

TEST(Scaling, ARunThatDidNotFinishIsNamed) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> missing{folder / "none"};
  EXPECT_HAS(error_of([&] { read_scaling(missing, Scaling::weak); }), "none");
  const std::vector<std::filesystem::path> torn{written_run(folder / "1", 1, 8, 1.0)};
  std::filesystem::resize_file(folder / "1" / "timing.jsonl", 300);
  EXPECT_HAS(error_of([&] { read_scaling(torn, Scaling::weak); }), "did not finish");
}

}  // namespace
}  // namespace isobar::report
