#include "isobar/writing/make_files.hpp"

#include <set>

#include "tests/datasets/samples.hpp"

namespace isobar::writing {
namespace {

using namespace isobar::tests;

TEST(MakeFiles, EveryTaskOnceForAnyNumberOfThreads) {
  for (const int threads : {1, 3, 20}) {
    std::vector<std::atomic<int>> runs(11);
    std::set<std::int64_t> told;
    const FilesMade made = make_files({11, threads, 2, 13, [&](std::int64_t done, std::int64_t) { told.insert(done); }},
                                      [&](std::size_t task, const std::function<bool()>& one) {
                                        ++runs[task];
                                        EXPECT_TRUE(one());
                                      });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    EXPECT_EQ(made.written, 11);
    EXPECT_EQ(made.kept, 2);
    EXPECT_TRUE(made.complete);
    EXPECT_EQ(told.size(), 12u) << "from what was kept to all";
  }
}

TEST(MakeFiles, AStopEndsInTheMiddleOfATask) {
  std::atomic<bool> stop = false;
  const FilesMade made = make_files({3, 1, 0, 9, {}, &stop}, [&](std::size_t task, const std::function<bool()>& one) {
    for (int file = 0; file < 3; ++file) {
      stop = task == 1 && file == 1;
      if (!one()) return;
    }
  });
  EXPECT_EQ(made.written, 5);
  EXPECT_FALSE(made.complete);
}

TEST(MakeFiles, AFailureEndsAllAndIsThrown) {
  std::atomic<int> begun = 0;
  const auto failing = [&](std::size_t task, const std::function<bool()>&) {
    ++begun;
    if (task == 1) fail("task {} cannot", task);
  };
  EXPECT_HAS(error_of([&] { make_files({1000, 1, 0, 1000}, failing); }), "task 1 cannot");
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(threads_for_files(3), 3);
  EXPECT_GE(threads_for_files(0), 1);
  const TemporaryFolder folder;
  make_folder(folder / "a/b");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b"));
}

}  // namespace
}  // namespace isobar::writing
