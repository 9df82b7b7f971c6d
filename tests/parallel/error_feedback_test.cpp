// What a codec does not send is never lost: by itself, and in training.
#include "isobar/parallel/error_feedback.hpp"

#include "isobar/codec/codec.hpp"

#include "tests/expect_error.hpp"
#include "tests/parallel/small_training.hpp"

namespace isobar::parallel {
namespace {

using namespace trials;
using tests::error_of;

// All that was sent and what is still lost add up to all gradients.
TEST(ErrorFeedback, NothingIsLostForGood) {
  constexpr std::size_t count = 3000;
  for (const char* name : {"topk(share=0.01)", "topk(share=0.2)", "bf16", "float"}) {
    const auto codec = make(codec::codecs(), name, "codec");
    ErrorFeedback feedback(count + 10);
    std::vector<double> sent(count), all(count);
    std::vector<float> gradients(count);
    for (std::uint64_t step = 0; step < 20; ++step) {
      for (std::size_t i = 0; i < count; ++i) {
        gradients[i] = static_cast<float>(Random(5, step).uniform(i) - 0.5);
        all[i] += static_cast<double>(gradients[i]);
      }
      const auto encode = [&] {
        std::vector<float> copy = gradients;
        feedback.add_to(copy, 10);
        round_as(*codec, copy);
        feedback.keep_lost(copy, 10);
        return copy;
      };
      encode();  // a step that failed: done again, it gives the same
      const std::vector<float> now = encode();
      feedback.commit();
      for (std::size_t i = 0; i < count; ++i) sent[i] += static_cast<double>(now[i]);
    }
    const std::span<const float> lost = feedback.state().floats();
    ASSERT_EQ(lost.size(), count + 10);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_NEAR(sent[i] + static_cast<double>(lost[10 + i]), all[i], 2e-5) << name << " at " << i;
  }
}

Training sparse(const std::string& strategy) {
  Training s;
  s.strategy = strategy;
  s.optimizer = "sgd";
  s.dropout = 0;
  return s;
}

// All of every tensor is the same as adding on the way, in the order of two ranks.
TEST(TopKTraining, AllNumbersGiveSync) {
  const Outcome exact = train(2, sparse("sync"));
  for (const char* strategy : {"sync(codec=topk(share=1))", "sync(codec=topk(share=1), bucket_mb=0)"}) {
    const Outcome all = train(2, sparse(strategy));
    EXPECT_EQ(all.weights, exact.weights) << strategy;
    EXPECT_EQ(all.losses, exact.losses) << strategy;
  }
}

// Tensors are encoded by themselves: how they travel together changes nothing.
TEST(TopKTraining, BucketsChangeNothing) {
  const Outcome one = train(3, sparse("sync(codec=topk(share=0.1, least=1))"));
  const Outcome other = train(3, sparse("sync(codec=topk(share=0.1, least=1), bucket_mb=0)"));
  EXPECT_EQ(one.weights, other.weights);
  EXPECT_NE(one.weights, train(3, sparse("sync")).weights);
}

// Each step moves a tensor in as many places as are sent by some rank.
TEST(TopKTraining, OneRankMovesWhatItSends) {
  Training s = sparse("sync(codec=topk(share=0.0005, least=1))");
  s.steps = 1;
  const auto after = train(1, s).weights;
  s.steps = 0;
  const auto before = train(1, s).weights;
  for (const auto& [name, weights] : after) {
    std::size_t moved = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) moved += weights[i] != before.at(name)[i];
    EXPECT_LE(moved, 1u) << name;
  }
  EXPECT_NE(after, before);
}

TEST(TopKTraining, LaggedCarriesItToo) {
  const Outcome lagged = train(2, sparse("lagged(k=0, codec=topk(share=0.2, least=1))"));
  const Outcome sync = train(2, sparse("sync(codec=topk(share=0.2, least=1))"));
  EXPECT_EQ(lagged.weights, sync.weights);
}

TEST(TopKTraining, WhatCannotCarryItRefuses) {
  EXPECT_HAS(error_of([] { train(2, sparse("sync(codec=topk, algorithm=ring)")); }),
             "algorithm 'ring' adds numbers on their way, which those of codec 'topk(share=0.01)' cannot be");
  EXPECT_HAS(error_of([] { train(2, sparse("sync(codec=topk, deterministic=true)")); }), "travel as float");
  EXPECT_HAS(error_of([] { train(2, sparse("sync(codec=topk(share=2))")); }), "share must be above 0 and at most 1");
}

}  // namespace
}  // namespace isobar::parallel
