#include "isobar/parallel/slowed.hpp"

#include "isobar/parallel/composition.hpp"

#include "tests/expect_error.hpp"
#include "tests/parallel/quadratic.hpp"

namespace isobar::parallel {
namespace {

using tests::error_of;
using trials::PlainReplica;

TEST(SlowRanks, AreReadAndRefused) {
  EXPECT_EQ(read_slow_ranks(""), SlowRanks());
  EXPECT_EQ(read_slow_ranks("1:3"), (SlowRanks{{1, 3.0}}));
  EXPECT_EQ(read_slow_ranks("1:3, 2:1.5"), (SlowRanks{{1, 3.0}, {2, 1.5}}));
  for (const char* wrong : {"1", "1:", ":3", "1:0.5", "-1:3", "1:3x", "1:1e9", "1:nan", "1:3,,2:3", "a:3"}) {
    const std::string message = error_of([&] { read_slow_ranks(wrong); });
    EXPECT_HAS(message, std::string("slow '") + wrong + "'");
    EXPECT_HAS(message, "1:3,2:1.5 for two");
  }
  EXPECT_HAS(error_of([] { read_slow_ranks("1:3,1:4"); }), "rank 1 is named twice");
}

TEST(SlowRanks, MustExistAndTrain) {
  using Role = Roles::Role;
  const Roles roles{{Role::trains, Role::trains, Role::serves}, {0, 1, -1}};
  const Spec recipe("recipe(parallel=parallel(slow='1:3'))");
  EXPECT_EQ(slowness(recipe, roles, 0), 1);
  EXPECT_EQ(slowness(recipe, roles, 1), 3);
  EXPECT_EQ(slowness(Spec("recipe"), roles, 1), 1);
  EXPECT_HAS(error_of([&] { slowness(Spec("recipe(parallel=parallel(slow='2:3'))"), roles, 0); }),
             "rank 2 serves parameters");
  EXPECT_HAS(error_of([&] { slowness(Spec("recipe(parallel=parallel(slow='3:3'))"), roles, 0); }),
             "there is no rank 3; this run has ranks 0 to 2");
}

TEST(SlowRanks, AreNotedInTheRecipeOnlyWhereItNamesThem) {
  const auto resolved = [](const char* recipe) {
    Args args(Spec(recipe), "recipe");
    record_composition(args, read_composition(args));
    return args.resolved().str();
  };
  EXPECT_HAS(resolved("recipe(parallel=parallel(slow='1:3'))"), "1:3");
  EXPECT_EQ(resolved("recipe").find("slow"), std::string::npos);
}

// Computes for a while, and knows for how long.
class Busy final : public PlainReplica {
 public:
  explicit Busy(double& spent) : PlainReplica({{1}, {1}}), spent_(spent) {}
  double forward(const Feed&) override { return work(), 0.5; }
  void backward(const Feed&, const std::function<void(int p)>& ready) override {
    for (const int p : {1, 0}) {
      work();
      if (ready) ready(p);
    }
  }
  void update(int, std::span<const float>, const optim::Step&) override { work(); }

 private:
  void work() {
    const double begin = now_seconds();
    while (now_seconds() < begin + 0.002) {
    }
    spent_ += now_seconds() - begin;
  }
  double& spent_;
};

// Lower bounds only: they hold on busy cores too.
TEST(SlowedReplica, TakesAsManyTimesAsLongForEveryStretch) {
  double spent = 0;
  SlowedReplica slowed(std::make_unique<Busy>(spent), 3);
  const double begin = now_seconds();
  EXPECT_EQ(slowed.forward({}), 0.5);
  EXPECT_GE(now_seconds() - begin, 3 * spent);
  std::vector<int> ready;
  slowed.backward({}, [&](int p) {
    ready.push_back(p);
    EXPECT_GE(now_seconds() - begin, 3 * spent) << "gradient " << p << " is final too early";
  });
  EXPECT_EQ(ready, (std::vector{1, 0}));
  slowed.update(0, {}, {});
  EXPECT_GE(spent, 4 * 0.002);
  EXPECT_GE(now_seconds() - begin, 3 * spent);
}

// The time that a strategy spends when a gradient is ready is not the rank's computing.
TEST(SlowedReplica, DoesNotProlongWhatOthersDo) {
  double spent = 0, others = 0;
  SlowedReplica slowed(std::make_unique<Busy>(spent), 1);
  const double begin = now_seconds();
  slowed.backward({}, [&](int) {
    const double from = now_seconds();
    while (now_seconds() < from + 0.002) {
    }
    others += now_seconds() - from;
  });
  EXPECT_GE(now_seconds() - begin, spent + others);
}

TEST(SlowedReplica, ComputesTheSame) {
  const std::vector<std::vector<float>> curvatures{{1, 2}, {3}};
  const std::vector<float> plain = trials::descend({.strategy = "sync", .curvatures = curvatures});
  std::vector<float> slow;
  comm::run_ranks(2, [&](comm::Comm& comm) {
    const std::vector<float>& own = curvatures[static_cast<std::size_t>(comm.rank())];
    const auto strategy = make(strategies(), Spec("sync"), "strategy");
    auto quadratic = std::make_unique<trials::QuadraticReplica>(strategy->open(comm, 16, {}));
    trials::QuadraticReplica& inner = *quadratic;
    SlowedReplica replica(std::move(quadratic), comm.rank() == 1 ? 3 : 1);
    const Feed feed{{{"h", own}}, {.rows = std::ssize(own), .total = 3}};
    std::vector<float> seen;
    for (int t = 1; t <= 4; ++t) {
      strategy->step(replica, {&feed, 1}, {t, 0.25});
      seen.push_back(inner.weight());
    }
    strategy->settle(replica, Settle::updates);
    seen.push_back(inner.weight());
    if (comm.rank() == 0) slow = seen;
  });
  EXPECT_EQ(slow, plain);
}

}  // namespace
}  // namespace isobar::parallel
