// What two ranks do that meet: words, offers and answers, one thing after the other.
#include "isobar/parallel/pair_exchange.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/local_comm.hpp"
#include "isobar/parallel/pair_words.hpp"

#include "tests/parallel/plain_replica.hpp"

namespace isobar::parallel::trials {
namespace {

TEST(PairWords, AreHeardInOrderFromWhoeverTellsThem) {
  comm::run_ranks(3, [](comm::Comm& comm) {
    const std::vector<int> senders = comm.rank() == 0 ? std::vector{1, 2} : std::vector{0};
    PairWords words(comm, senders);
    if (comm.rank() > 0) {
      words.tell(0, PairWord::offer);
      words.tell(0, PairWord::done);
      std::vector<PairWord> heard;
      for (; heard.empty(); words.pause())
        if (const auto word = words.next()) heard.push_back(word->word);
      EXPECT_EQ(heard, std::vector{PairWord::over});
      return words.close();
    }
    std::vector<PairWord> heard[3];
    while (heard[1].size() + heard[2].size() < 4) {
      if (const auto word = words.next()) heard[word->from].push_back(word->word);
      else words.pause();
    }
    for (const int from : {1, 2}) EXPECT_EQ(heard[from], (std::vector{PairWord::offer, PairWord::done})) << from;
    EXPECT_FALSE(words.next());
    for (const int to : {1, 2}) words.tell(to, PairWord::over);
    words.close();
  });
}

// Who leaves is not heard any more; nobody who listens fails for it.
TEST(PairWords, WhoHasLeftIsLost) {
  comm::run_ranks(2, [](comm::Comm& comm) {
    if (comm.rank() == 1) return;
    PairWords words(comm, {1});
    while (!words.lost(1)) {
      EXPECT_FALSE(words.next());
      words.pause();
    }
    EXPECT_FALSE(words.reaches(1, [] { FAIL() << "a message to a rank that has left"; }));
    words.tell(1, PairWord::stop);
    words.close();
  });
}

// One moves on by 10 after its offer, the other computes when it is asked: both get half of the difference of what was
// offered and what there was. Statistics stay as they are.
TEST(PairExchange, AddsHalfOfTheDifferenceToWhatTheModelsHaveBecome) {
  comm::run_ranks(2, [](comm::Comm& comm) {
    PlainReplica replica({{.numbers = 3}, {.numbers = 1, .trained = false}});
    const float begin = comm.rank() == 0 ? 4 : 8;
    std::ranges::fill(replica[0].weight, begin);
    replica[1].weight[0] = begin;
    PairWords words(comm, {1 - comm.rank()});
    if (comm.rank() == 1) {
      PairOffer offer(comm, words);
      EXPECT_FALSE(offer.under_way());
      offer.begin(replica, 0, 1);
      EXPECT_TRUE(offer.under_way());
      for (float& weight : replica[0].weight) weight += 10;
      for (int looks = 0; looks < 3; ++looks) offer.look(replica, false, 1);
      EXPECT_EQ(replica[0].weight[2], 18);
      for (; offer.under_way(); words.pause()) {
        offer.look(replica, true, 3);
        static_cast<void>(words.next());
      }
      EXPECT_EQ(replica[0].weight[0], 16);
      EXPECT_EQ(replica[1].weight[0], 8);
      EXPECT_EQ(offer.met(), 1);
      EXPECT_EQ(offer.steps_between(), 2);
    } else {
      PairAnswers answers(comm, words);
      while (true) {
        if (const auto word = words.next()) {
          EXPECT_EQ(word->word, PairWord::offer);
          answers.expect(word->from);
          break;
        }
        words.pause();
      }
      while (!answers.idle()) answers.look(replica, 1);
      EXPECT_EQ(replica[0].weight[0], 4);  // until it pays
      std::vector<float> model(replica.gradients().size());
      answers.copy_model(replica, model);
      EXPECT_EQ(model[0], 6);
      answers.pay(replica, 1);
      answers.pay(replica, 1);
      EXPECT_EQ(replica[0].weight[2], 6);
      EXPECT_EQ(replica[1].weight[0], 4);
      EXPECT_EQ(answers.met(), 1);
    }
    comm::barrier(comm);
  });
}

}  // namespace
}  // namespace isobar::parallel::trials
