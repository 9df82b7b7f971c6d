// One engine for a rank: what its clients share, and what they do not.
#include "isobar/comm/message_engine.hpp"

#include <atomic>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

#include "tests/comm/summing.hpp"
#include "tests/expect_error.hpp"

namespace isobar::comm {
namespace {

using tests::error_of;

/// Ends when it is let; counts how often it was dropped.
struct Gate {
  std::atomic<bool> open = false;
  std::atomic<int> dropped = 0, looked = 0;
  std::string failure{};
};

class GatedFlight final : public Flight {
 public:
  explicit GatedFlight(Gate& gate) : gate_(gate) {}
  ~GatedFlight() override { ++gate_.dropped; }
  bool advance() override {
    ++gate_.looked;
    gate_.looked.notify_all();
    if (!gate_.failure.empty() && gate_.open) fail("{}", gate_.failure);
    return gate_.open;
  }

 private:
  Gate& gate_;
};

std::unique_ptr<Flight> gated(Gate& gate) { return std::make_unique<GatedFlight>(gate); }
std::int64_t no_progress() { return 0; }

TEST(MessageEngine, ARankHasOneForAllItsGroups) {
  run_ranks(2, [](Comm& comm) {
    const auto other = duplicate(comm);
    const std::weak_ptr<MessageEngine> engine = comm.view()->engine();
    EXPECT_TRUE(engine.expired()) << "nobody keeps it";
    {
      const MessageEngine::Client first(comm, {}, no_progress), second(*other, {}, no_progress);
      EXPECT_EQ(comm.view()->engine(), other->view()->engine());
    }
    // Another rank has another.
    const MessageEngine::Client client(comm, {}, no_progress);
    const MessageEngine* mine = comm.view()->engine().get();
    const MessageEngine* theirs = nullptr;
    Ticket receive = comm.start_receive(1 - comm.rank(), 0, std::as_writable_bytes(std::span(&theirs, 1)));
    comm.send(1 - comm.rank(), 0, std::as_bytes(std::span(&mine, 1)));
    receive.wait();
    EXPECT_NE(mine, theirs);
  });
}

// Who waits for one client's flight advances those of all.
TEST(MessageEngine, ClientsHaveTheirOwnNumbersAndCosts) {
  const auto comm = alone();
  Gate gate;
  std::atomic<int> ended = 0;
  MessageEngine::Client first(*comm, {}, no_progress), second(*comm, {}, no_progress);
  EXPECT_EQ(first.start(gated(gate), 0, "one", [&] { ++ended; }), 0);
  EXPECT_EQ(second.start(gated(gate), 0, "two", [&] { ++ended; }), 0);
  EXPECT_EQ(second.start(gated(gate), 5, "three", [&] { ++ended; }), 1);
  EXPECT_THROW(first.wait(1), std::logic_error);
  gate.open = true;
  second.wait(0), second.wait(1), first.wait(0);
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(gate.dropped, 3);
  EXPECT_EQ(first.cost().sums, 1);
  EXPECT_EQ(second.cost().sums, 2);
  second.reset_cost();
  EXPECT_EQ(second.cost().sums, 0);
  EXPECT_EQ(first.cost().sums, 1);
}

TEST(MessageEngine, AnErrorEndsItsClientOnly) {
  const auto comm = alone();
  Gate broken{.failure = "the cable is cut"}, whole;
  broken.open = whole.open = true;
  MessageEngine::Client first(*comm, {}, no_progress), second(*comm, {}, no_progress);
  const auto bad = first.start(gated(broken), 0, "one");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(error_of([&] { first.wait(bad); }), "the cable is cut");
  EXPECT_EQ(error_of([&] { first.start(gated(whole), 0, "two"); }), "the cable is cut");
  second.wait(second.start(gated(whole), 0, "three"));
  EXPECT_EQ(second.cost().sums, 1);
}

TEST(MessageEngine, AClientThatGoesWithdrawsWhatIsItsOwn) {
  const auto comm = alone();
  Gate own, other;
  MessageEngine::Client stays(*comm, {}, no_progress);
  const auto flying = stays.start(gated(other), 0, "stays");
  {
    MessageEngine::Client goes(*comm, {}, no_progress);
    goes.start(gated(own), 1, "goes");
    own.looked.wait(0);  // the thread has it
    goes.start(gated(own), 1, "goes too");
  }
  EXPECT_EQ(own.dropped, 2);
  EXPECT_EQ(other.dropped, 0);
  other.open = true;
  stays.wait(flying);
  EXPECT_EQ(other.dropped, 1);
}

// Several blocks on one rank, as for circles of their own: all under way at once, waited for in any order.
TEST(MessageEngine, ManyReducersOfARankShareIt) {
  for (const int per_node : {1, 2})
    run_ranks(
        4,
        [](Comm& comm) {
          const char* const kinds[] = {"ring", "auto", "halving_doubling", "tree"};
          std::vector<tests::Summing> reducers;
          std::vector<Reducer::Sum> sums;
          for (const char* kind : kinds) {
            reducers.push_back(tests::summing(comm, 1000, {.algorithm = kind}));
            reducers.push_back(
                tests::summing(comm, 1000, {.codec = make(codec::codecs(), "topk(share=0.5)", "codec")}));
          }
          EXPECT_GE(comm.view()->engine().use_count(), 1 + 8);
          for (int step = 0; step < 3; ++step) {
            sums.clear();
            for (std::size_t i = 0; i < reducers.size(); ++i) {
              std::ranges::fill(reducers[i]->memory(), static_cast<float>(i + 1));
              sums.push_back(reducers[i]->start({{0, 1000}, static_cast<int>(i % 3), "one of many"}));
            }
            for (std::size_t k = 0; k < reducers.size(); ++k) {
              const std::size_t i = (k * 3 + static_cast<std::size_t>(comm.rank())) % reducers.size();
              reducers[i]->wait(sums[i]);
              for (const float x : reducers[i]->memory()) ASSERT_EQ(x, 4 * static_cast<float>(i + 1));
            }
          }
        },
        per_node);
}

}  // namespace
}  // namespace isobar::comm
