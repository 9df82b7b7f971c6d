#include "isobar/train/waiting.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/train/agreement.hpp"

#include "tests/expect_error.hpp"

namespace isobar::train {
namespace {

// Rank 1 does not arrive, and says what it is doing instead.
TEST(Waiting, AStallEndsAllAndNamesWhoIsMissing) {
  const std::string message = tests::error_of([] {
    comm::run_ranks(3, [](comm::Comm& comm) {
      comm.note(comm.rank() == 1 ? "reads forever" : "step 7");
      barrier(comm);  // all have said it
      if (comm.rank() == 1)
        for (;; std::this_thread::yield()) comm.check();
      std::int64_t number[] = {1};
      sum_over_ranks(comm, number, until_stalled(comm, {0.02, 0.1}, "step 7"));
    });
  });
  EXPECT_HAS(message, "'step 7' waits");
  EXPECT_HAS(message, "rank 1 (it says: 'reads forever')");
}

TEST(Waiting, ARankThatAnswersMayTakeLong) {
  std::atomic<int> looks = 0;
  comm::run_ranks(2, [&](comm::Comm& comm) {
    const Look patient = while_all_answer(comm, {0.001, 0.001}, "checkpoint");
    if (comm.rank() == 1)
      while (looks < 3) std::this_thread::yield();
    std::int64_t number[] = {1};
    sum_over_ranks(comm, number, [&] {
      patient();
      ++looks;
    });
    EXPECT_EQ(number[0], 2);
  });
}

// A world whose rank 5 never says what it is doing, with a clock that advances whenever it is read.
class Silent final : public comm::WorldView {
 public:
  bool abort(const std::string& message) override {
    aborted = message;
    return true;
  }
  void check(std::uint32_t) const override {}
  void note(std::string) override {}
  std::vector<std::optional<std::string>> whereabouts(const std::vector<int>& ranks, double) override {
    EXPECT_EQ(ranks, (std::vector{4, 5, 6}));
    return {"here", std::nullopt, "there"};
  }
  double now() const override { return ++time_; }

  std::string aborted;

 private:
  mutable double time_ = 0;
};

// Its ranks 0, 1 and 2 have the numbers 4, 5 and 6 in the world.
class WithoutMessages final : public comm::Comm {
 public:
  explicit WithoutMessages(std::shared_ptr<comm::WorldView> view)
      : Comm({.size = 3, .members = {4, 5, 6}}, std::move(view)) {}
  std::unique_ptr<comm::Comm> among(std::span<const int>) override { return nullptr; }
  std::shared_ptr<comm::SharedMemory> share(std::size_t) override { return nullptr; }

 private:
  comm::Ticket begin_send(int, int, std::span<const std::byte>) override { return {}; }
  comm::Ticket begin_receive(int, int, std::span<std::byte>, comm::Length) override { return {}; }
};

TEST(Waiting, ARankThatDoesNotAnswerIsGivenUp) {
  const auto silent = std::make_shared<Silent>();
  WithoutMessages comm(silent);
  const Look look = while_all_answer(comm, {10, 60}, "checkpoint after step 3");
  const std::string message = tests::error_of([&] {
    for (int i = 0; i < 200; ++i) look();
  });
  EXPECT_HAS(message, "rank 5 has not answered for");
  EXPECT_HAS(message, "checkpoint after step 3");
  EXPECT_EQ(silent->aborted, message);
}

}  // namespace
}  // namespace isobar::train
