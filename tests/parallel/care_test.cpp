// What a strategy promises of a step that fails: nothing of it is left, on any rank, and all ranks fail alike.
#include <cmath>
#include <limits>

#include "isobar/comm/collectives.hpp"

#include "tests/parallel/forwarding_replica.hpp"
#include "tests/parallel/mortal_comm.hpp"
#include "tests/parallel/small_training.hpp"

namespace isobar::parallel::trials {
namespace {

// Everything a rank has, as bits: numbers that are not finite are equal to themselves.
std::vector<std::uint32_t> bits_of(Trained& trained) {
  std::vector<std::uint32_t> bits;
  const auto add = [&](std::span<const float> numbers) {
    for (const float number : numbers) bits.push_back(std::bit_cast<std::uint32_t>(number));
  };
  add(trained.store().all_weights());
  for (int p = 0; p < trained.store().count(); ++p)
    for (int s = 0; s < trained.store().slot_count(); ++s) add(trained.store().slot(p, s));
  return bits;
}

// Bad numbers come out of one pass on one rank.
class SpoilingReplica final : public ForwardingReplica {
 public:
  enum class Part { nothing, loss, gradient, statistics };
  SpoilingReplica(Replica& whole, Part part, int parameter = 0)
      : ForwardingReplica(whole), part_(part), parameter_(parameter) {}

  double forward(const Feed& feed) override {
    const double loss = whole_.forward(feed);
    for (const ReplicaParameter& parameter : parameters())
      if (part_ == Part::statistics && !parameter.trained)
        parameter.weight.back() = std::numeric_limits<float>::infinity();
    return part_ == Part::loss ? std::nan("") : loss;
  }
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override {
    bool told = false;  // then it may be on its way already and is not ours to change
    whole_.backward(feed, [&](int p) {
      if (part_ == Part::gradient && p == parameter_) spoil_gradient(), told = true;
      if (ready) ready(p);
    });
    if (part_ == Part::gradient && !told) spoil_gradient();
  }

 private:
  void spoil_gradient() { (*this)[parameter_].gradient[0] = std::numeric_limits<float>::quiet_NaN(); }

  Part part_;
  int parameter_;
};

using Part = SpoilingReplica::Part;

struct Instance {
  const char* strategy;
  int ranks;
  friend void PrintTo(const Instance& instance, std::ostream* out) { *out << instance.strategy; }
};

class Careful : public testing::TestWithParam<Instance> {
 protected:
  Training setup(bool whole) const {
    Training s;
    s.strategy = GetParam().strategy;
    s.moving_norm = true;
    s.micro = 2;
    s.optimizer = "adam";
    s.care.whole = whole;
    s.per_node = 1;
    return s;
  }
  int ranks() const { return GetParam().ranks; }
};

// Runs step t with bad numbers on the last rank; all ranks must throw.
void take_bad_step(Trained& trained, int rank, int ranks, std::int64_t t, const Training& s, Part part, int parameter) {
  SpoilingReplica spoiling(trained.replica(), rank == ranks - 1 ? part : Part::nothing, parameter);
  const Dealt dealt = trained.deal(t);
  EXPECT_THROW(trained.strategy().step(spoiling, dealt.feeds, step_number(t, s)), NotFinite);
}

// A run with a bad step equals one that never had it, in running statistics and in the samples they were made
// of as well; where something else is spoilt the ranks agree on it.
TEST_P(Careful, ABadStepNeverWas) {
  const Training s = setup(true);
  comm::run_ranks(
      ranks(),
      [&](comm::Comm& comm) {
        Trained expected(comm, s);
        const int parameters = expected.replica().count();
        for (const int t : {1, 2, 4}) expected.step(t);
        expected.strategy().settle(expected.replica(), Settle::updates);
        for (const Part part : {Part::loss, Part::statistics, Part::gradient})
          for (int p = 0; p < (part == Part::gradient ? parameters : 1); ++p) {
            if (!expected.replica()[p].trained) continue;
            Trained trained(comm, s);
            for (const int t : {1, 2}) trained.step(t);
            const auto before = bits_of(trained);
            take_bad_step(trained, comm.rank(), comm.size(), 3, s, part, p);
            EXPECT_EQ(bits_of(trained), before);
            trained.step(4);
            trained.strategy().settle(trained.replica(), Settle::updates);
            EXPECT_EQ(bits_of(trained), bits_of(expected)) << "parameter " << p;
          }
      },
      s.per_node);
}

// Without care for the whole step the weights before the bad ones are updated already, the bad ones never.
TEST_P(Careful, UpdatesOverlapWithSumsUnlessTheStepIsWhole) {
  for (const bool whole : {false, true}) {
    Training s = setup(whole);
    s.strategy += s.strategy.back() == ')' ? "" : "()";
    if (ranks() > 1)
      s.strategy.insert(s.strategy.size() - 1, s.strategy.ends_with("()") ? "bucket_mb=0" : ", bucket_mb=0");
    comm::run_ranks(
        ranks(),
        [&](comm::Comm& comm) {
          Trained trained(comm, s);
          int last = trained.replica().count() - 1;
          while (!trained.replica()[last].trained) --last;
          const auto before = bits_of(trained);
          SpoilingReplica spoiling(trained.replica(), comm.rank() == 0 ? Part::gradient : Part::nothing, last);
          const Dealt dealt = trained.deal(1);
          try {
            trained.strategy().step(spoiling, dealt.feeds, step_number(1, s));
            ADD_FAILURE() << "bad numbers were not found";
          } catch (const NotFinite& found) {
            const bool overlaps = !whole && s.strategy.starts_with("sync");
            EXPECT_EQ(found.updated > 0, overlaps) << s.strategy;
            if (overlaps) {
              EXPECT_EQ(found.parameter, last);
            }
          }
          EXPECT_TRUE(all_finite(trained.store().all_weights()));
        },
        s.per_node);
  }
}

TEST_P(Careful, WhoDoesNotLookFindsNothing) {
  Training s = setup(true);
  s.care.finite = false;
  comm::run_ranks(ranks(), [&](comm::Comm& comm) {
    Trained trained(comm, s);
    SpoilingReplica spoiling(trained.replica(), Part::loss);
    const Dealt dealt = trained.deal(1);
    EXPECT_TRUE(std::isnan(trained.strategy().step(spoiling, dealt.feeds, step_number(1, s))));
  });
}

// Whatever message a step is interrupted at: those who can go on have the weights and slots of a finished step.
TEST_P(Careful, AStepInterruptedInMidSumLeavesNothing) {
  const Training s = setup(true);
  int interrupted = 0;
  for (std::int64_t messages = 0; ranks() > 1; ++messages) {
    Fate fate;
    std::atomic<int> thrown = 0;
    comm::run_ranks(
        ranks(),
        [&](comm::Comm& comm) {
          MortalComm mortal(comm, fate);
          Trained trained(mortal, s);
          for (const int t : {1, 2}) trained.step(t);
          comm::barrier(comm);
          const auto before = bits_of(trained);
          if (comm.rank() == 0) fate.messages_left = messages;
          comm::barrier(comm);
          try {
            trained.step(3);
          } catch (const comm::MembersChanged&) {
            ++thrown;
            if (trained.strategy().traits().recovers) {
              EXPECT_EQ(bits_of(trained), before) << "after " << messages << " messages";
            }
          }
          comm::barrier(comm);
        },
        s.per_node);
    if (thrown == 0) break;
    ++interrupted;
    ASSERT_LT(interrupted, 10000);
  }
  EXPECT_GE(interrupted, ranks() > 1 ? 4 : 0);
}

INSTANTIATE_TEST_SUITE_P(Parallel, Careful,
                         testing::Values(Instance{"solo", 1}, Instance{"solo(deterministic=true)", 1},
                                         Instance{"sync", 3}, Instance{"sync(deterministic=true)", 2},
                                         Instance{"sync(wire=bf16)", 2}, Instance{"lagged(k=0)", 2},
                                         Instance{"lagged", 2}, Instance{"lagged(k=3)", 2}),
                         [](const auto& instance) {
                           std::string name;
                           for (const char c : std::string(instance.param.strategy))
                             if (std::isalnum(static_cast<unsigned char>(c))) name += c;
                           return name;
                         });

TEST(Care, LaggedCannotGoOnWithoutItsSums) {
  const auto recovers = [](const char* strategy) {
    return make(strategies(), strategy, "strategy")->traits().recovers;
  };
  EXPECT_TRUE(recovers("solo"));
  EXPECT_TRUE(recovers("sync"));
  EXPECT_TRUE(recovers("lagged(k=0)"));
  EXPECT_FALSE(recovers("lagged(k=1)"));
}

}  // namespace
}  // namespace isobar::parallel::trials
