#include "isobar/train/waiting.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/train/agreement.hpp"

#include "tests/expect_error.hpp"

namespace isobar::train {
namespace {

// Rank 1 does not come, and says what it does instead.
TEST(Waiting, AStallEndsAllAndNamesWhoIsMissing) {
  const std::string message = tests::error_of([] {
    comm::run_ranks(3, [](comm::Comm& comm) {
      comm.note(comm.rank() == 1 ? "reads for ever" : "step 7");
      if (comm.rank() == 1)
        for (;; std::this_thread::yield()) comm.check();
      std::int64_t number[] = {1};
      sum_over_ranks(comm, number, until_stalled(comm, {0.02, 0.1}, "step 7"));
    });
  });
  EXPECT_HAS(message, "'step 7' waits");
  EXPECT_HAS(message, "rank 1 (it says: 'reads for ever')");
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

// A group whose rank 1 never says where it is, on a clock that goes on with every look at it.
class Silent final : public comm::Comm {
 public:
  int rank() const override { return 0; }
  const std::vector<int>& members() const override { return members_; }
  std::uint32_t epoch() const override { return 0; }
  const std::vector<int>& nodes() const override { return members_; }
  comm::Ticket start_send(int, int, std::span<const std::byte>) override { return {}; }
  comm::Ticket start_receive(int, int, std::span<std::byte>) override { return {}; }
  bool abort(const std::string& message) override {
    aborted = message;
    return true;
  }
  void check() const override {}
  std::unique_ptr<comm::Comm> split(int, int) override { return nullptr; }
  std::unique_ptr<comm::Comm> regroup(std::span<const int>, std::uint32_t) override { return nullptr; }
  std::shared_ptr<comm::SharedMemory> share(std::size_t) override { return nullptr; }
  void note(std::string) override {}
  std::vector<std::optional<std::string>> whereabouts(double) override { return {"here", std::nullopt, "there"}; }
  comm::Traffic traffic() const override { return {}; }
  double now() const override { return ++time_; }

  std::string aborted;

 private:
  std::vector<int> members_{4, 5, 6};
  mutable double time_ = 0;
};

TEST(Waiting, ARankThatDoesNotAnswerIsGivenUp) {
  Silent comm;
  const Look look = while_all_answer(comm, {10, 60}, "checkpoint after step 3");
  const std::string message = tests::error_of([&] {
    for (int i = 0; i < 200; ++i) look();
  });
  EXPECT_HAS(message, "rank 5 has not answered for");
  EXPECT_HAS(message, "checkpoint after step 3");
  EXPECT_EQ(comm.aborted, message);
}

}  // namespace
}  // namespace isobar::train
