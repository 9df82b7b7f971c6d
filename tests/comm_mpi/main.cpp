// Runs the tests of tests/comm_mpi on every rank of a world: test_comm_mpi_<mpi> RANKS [options of gtest].
// A world of another size is a failure, and so is a test that takes too long: nothing is skipped, nothing hangs.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/comm_mpi/ranks.hpp"

namespace isobar::comm_mpi::tests {

static std::unique_ptr<World> joined;
World& world() { return *joined; }

namespace {

std::atomic<int> tests_begun = 0;

// Ranks other than the first report only failures.
class Failures final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& info) override {
    ++tests_begun;
    name_ = std::string(info.test_suite_name()) + "." + info.name();
    ranks().note(name_);
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s %s:%d: %s\n", ranks().rank(), name_.c_str(),
                 result.file_name() ? result.file_name() : "", result.line_number(), result.message());
  }
  std::string name_;
};

[[noreturn]] void watch() {
  for (int seen = -1, seconds = 0;; ++seconds) {
    if (seen != tests_begun) seconds = 0;
    seen = tests_begun;
    if (seconds == 60) {
      std::fprintf(stderr, "[rank %d] hangs in the test number %d\n", ranks().rank(), seen);
      std::_Exit(3);
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace
}  // namespace isobar::comm_mpi::tests

int main(int argc, char** argv) {
  using namespace isobar::comm_mpi::tests;
  testing::InitGoogleTest(&argc, argv);
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 0;
  joined = isobar::comm_mpi::join();
  if (ranks().size() != wanted) {
    std::fprintf(stderr, "a world of %d ranks where %d were wanted\n", ranks().size(), wanted);
    joined->leave(1);
    return 1;
  }
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (ranks().rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Failures);
  std::thread(watch).detach();
  int failed = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) failed = 1;
  for (const auto each : all_gather_number(ranks(), failed)) failed |= each != 0;
  joined->leave(failed);
  return failed;
}
