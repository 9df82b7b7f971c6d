#include "isobar/comm/stall_watch.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"

#include "tests/comm/forwarding_comm.hpp"
#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

// If flags do not tell who is missing, notes do: every rank that does not wait for the same sum.
std::string what_rank_0_finds(const std::string& of_rank_1, const std::string& of_rank_2) {
  return tests::error_of([&] {
    run_ranks(3, [&](Comm& comm) {
      if (comm.rank() == 1) comm.note(of_rank_1);
      if (comm.rank() == 2) comm.note(of_rank_2);
      barrier(comm);
      const ReducerOptions options{.warn_seconds = 1000, .stall_seconds = 0};
      const std::string what = "gradients";
      if (comm.rank() == 0) StallWatch(comm, options, what).look([] { return std::vector<int>(); });
    });
  });
}

TEST(StallWatch, NamesThoseWhoDoSomethingElse) {
  const std::string message = what_rank_0_finds("waits for sum 'gradients'", "evaluating");
  EXPECT_HAS(message, "[rank 0] sum 'gradients' waits ");
  EXPECT_HAS(message, " s for rank 2 (it says: 'evaluating')");
  EXPECT_FALSE(tests::contains(message, "rank 1"));
  EXPECT_HAS(what_rank_0_finds("waits for sum 'loss'", ""),
             " s for rank 1 (it says: 'waits for sum 'loss''), rank 2 (it says nothing)");
  EXPECT_HAS(what_rank_0_finds("waits for sum 'gradients'", "waits for sum 'gradients'"), "though all ranks take part");
}

class ClockedView final : public tests::ForwardingView {
 public:
  using ForwardingView::ForwardingView;
  double now() const override { return seconds; }
  double seconds = 100;
};

TEST(StallWatch, SlowIsNotStalled) {
  const auto comm = alone();
  const auto clocked_view = std::make_shared<ClockedView>(comm->view());
  ClockedView& clocked = *clocked_view;
  tests::ForwardingComm clocked_comm(*comm, clocked_view);
  const ReducerOptions options{.warn_seconds = 10, .stall_seconds = 60};
  const std::string what = "loss";
  const auto nobody = [] { return std::vector<int>{0}; };
  testing::internal::CaptureStderr();
  StallWatch watch(clocked_comm, options, what);
  for (int i = 0; i < 100; ++i) {
    clocked.seconds += 9;
    watch.look(nobody);
    watch.progress();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  clocked.seconds += 59;
  watch.look(nobody);
  EXPECT_HAS(testing::internal::GetCapturedStderr(), "isobar: sum 'loss' waits 59 s for rank 0 (it says: ");
  clocked.seconds += 1;
  EXPECT_HAS(tests::error_of([&] { watch.look(nobody); }), "sum 'loss' waits 60 s for rank 0");
}

TEST(StallWatch, WarnsOnceAndLeavesANote) {
  const auto comm = alone();
  const ReducerOptions options{.warn_seconds = 0};
  const std::string what = "loss";
  testing::internal::CaptureStderr();
  {
    StallWatch watch(*comm, options, what);
    for (int i = 0; i < 3; ++i) watch.look([] { return std::vector<int>{0}; });
    EXPECT_EQ(comm->whereabouts(1)[0], "waits for sum 'loss'");
  }
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(told, '\n'), 1);
  EXPECT_HAS(told, "isobar: sum 'loss' waits ");
  EXPECT_HAS(told, "; the job ends after 60 s");
  EXPECT_EQ(comm->whereabouts(1)[0], "no longer waits for sum 'loss'");
}

}  // namespace
}  // namespace isobar::comm
