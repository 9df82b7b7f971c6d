#include "isobar/comm_mpi/lifeline_service.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "isobar/comm/comm.hpp"

#include "tests/control/board.hpp"
#include "tests/expect_error.hpp"

namespace isobar::comm_mpi {
namespace {

using control::tests::Board;

// Ranks in this process, with a launcher: all at work, in the first epoch.
class LifelineServiceTest : public testing::Test {
 protected:
  static constexpr int ranks = 3;
  struct Rank {
    explicit Rank(const Board& board, int number) : lifeline(number, board.address()) {}
    control::Lifeline lifeline;
    LifelineService service{lifeline, [] {}};
  };

  void SetUp() override {
    for (int rank = 0; rank < ranks; ++rank) all_.push_back(std::make_unique<Rank>(board_, rank));
    std::vector<std::thread> threads;
    for (const auto& rank : all_) threads.emplace_back([&] { rank->lifeline.await_order(rank->lifeline.epoch()); });
    for (std::thread& thread : threads) thread.join();
  }
  LifelineService& service(int rank) { return all_[static_cast<std::size_t>(rank)]->service; }
  // The message of check() once it throws.
  static std::string news(const LifelineService& service, std::uint32_t epoch) {
    return tests::error_of([&] {
      for (;;) {
        service.check(epoch);
        std::this_thread::yield();
      }
    });
  }

  Board board_{ranks, 0};
  std::vector<std::unique_ptr<Rank>> all_;
};

TEST_F(LifelineServiceTest, ADeathEndsGroupsOfEarlierEpochs) {
  service(0).check(1);
  service(0).check(0);
  all_[2].reset();
  for (const int rank : {0, 1}) {
    EXPECT_EQ(news(service(rank), 1), "rank 2 has died");
    EXPECT_THROW(service(rank).check(0), comm::MembersChanged);
    service(rank).check(2);
  }
}

TEST_F(LifelineServiceTest, AFailureEndsAllAndTheFirstCounts) {
  EXPECT_TRUE(service(1).abort("the disk is full"));
  EXPECT_FALSE(service(2).abort("too"));
  for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(news(service(rank), 1), "[rank 1] the disk is full");
}

TEST_F(LifelineServiceTest, TheEndOfALaunchIsNoFailure) {
  service(0).end_of_launch("all ranks are restarted");
  EXPECT_EQ(news(service(0), 1), "all ranks are restarted");
  EXPECT_FALSE(service(0).abort("a consequence"));
  service(1).check(1);
}

TEST_F(LifelineServiceTest, TellsWhatTheOthersAreDoing) {
  service(2).note("knits");
  while (service(0).whereabouts({2}, 30)[0] != "knits") std::this_thread::yield();
  const auto notes = service(0).whereabouts({2, 1}, 30);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0], "knits");
  EXPECT_FALSE(service(0).has_left(2));
}

}  // namespace
}  // namespace isobar::comm_mpi
