// Every operator that talks, on one to four ranks: its gradients are the derivatives of a sum over all ranks.
#include "isobar/base/random.hpp"

#include "tests/ops/talking.hpp"

namespace isobar::ops {
namespace {

void fill_numbers(std::span<float> numbers, std::uint64_t stream) {
  const Random random(5, stream);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(2 * random.uniform(static_cast<std::uint64_t>(i)) - 1);
}

// The gradient of one number, and this rank's part of how the sum changes with it.
struct Slope {
  std::string where;
  double gradient = 0, change = 0;
};

// Weights are the same on all ranks. A number of input i on rank `of`, or on all ranks if these have the same. Ranks go
// through all numbers together.
std::vector<Slope> slopes(const TalkingCase& made, int rank, Direct& direct) {
  constexpr float h = 1.0f / 128;
  const std::size_t inputs = direct.in.size();
  for (std::size_t i = 0; i < inputs; ++i)
    fill_numbers(direct.x(static_cast<int>(i)),
                 (made.same_inputs || i > 0 ? 0 : 100u * static_cast<unsigned>(rank)) + i);
  direct.forward();
  const bool counts = !direct.op->receives_gradient();
  fill_numbers(direct.dy(), 1000u + (made.same_gradients ? 0 : static_cast<unsigned>(rank)));
  const std::vector<float> dy(direct.dy().begin(), direct.dy().end());
  direct.backward();
  const auto sum = [&] {
    direct.forward();
    double all = 0;
    for (std::size_t i = 0; counts && i < dy.size(); ++i) all += double{dy[i]} * double{direct.y()[i]};
    return all;
  };
  std::vector<Slope> list;
  for (int of = 0; of < (made.same_inputs ? 1 : made.ranks()); ++of) {
    if (made.specs[static_cast<std::size_t>(of)].empty()) continue;
    Spec spec(made.specs[static_cast<std::size_t>(of)]);
    spec.set("rank", of);
    spec.set("ranks", made.ranks());
    const Direct theirs(spec, made.in[static_cast<std::size_t>(of)]);
    for (std::size_t i = 0; i < theirs.in.size(); ++i) {
      if (made.name == "batch_norm" && i > 2) continue;  // running statistics
      for (std::int64_t e = 0; e < theirs.shapes[i].count(); ++e) {
        const bool mine = made.same_inputs || of == rank;
        float* const x = mine ? &direct.x(static_cast<int>(i))[static_cast<std::size_t>(e)] : nullptr;
        const float before = mine ? *x : 0;
        if (mine) *x = before + h;
        const double above = sum();
        if (mine) *x = before - h;
        const double below = sum();
        if (mine) *x = before;
        list.push_back({fmt::format("{}, number {} of input {} on rank {}", made.specs[0], e, i, of),
                        mine ? double{direct.dx(static_cast<int>(i))[static_cast<std::size_t>(e)]} : 0,
                        (above - below) / (2 * double{h})});
      }
    }
  }
  return list;
}

class EveryTalkingOperator : public testing::TestWithParam<int> {};

TEST_P(EveryTalkingOperator, HasTheGradientsOfASumOverRanks) {
  for (const TalkingCase& made : talking_cases(GetParam())) {
    std::vector<std::vector<Slope>> all(static_cast<std::size_t>(made.ranks()));
    run_talking(made,
                [&](int rank, Direct& direct) { all[static_cast<std::size_t>(rank)] = slopes(made, rank, direct); });
    std::vector<Slope> together;
    for (const std::vector<Slope>& rank : all) {
      if (rank.empty()) continue;
      if (together.empty()) together.resize(rank.size());
      ASSERT_EQ(rank.size(), together.size());
      for (std::size_t k = 0; k < rank.size(); ++k) {
        together[k].where = rank[k].where;
        together[k].gradient += rank[k].gradient;
        together[k].change += rank[k].change;
      }
    }
    ASSERT_FALSE(together.empty()) << made.name;
    for (const Slope& slope : together) EXPECT_NEAR(slope.gradient, slope.change, 2e-3) << slope.where;
  }
}

TEST_P(EveryTalkingOperator, GivesTheSameBitsAgain) {
  for (const TalkingCase& made : talking_cases(GetParam()))
    run_talking(made, [&](int rank, Direct& direct) {
      for (std::size_t i = 0; i < direct.in.size(); ++i)
        fill_numbers(direct.x(static_cast<int>(i)), 10u * static_cast<unsigned>(rank) + i);
      direct.forward();
      const std::vector<float> first(direct.y().begin(), direct.y().end());
      direct.forward();
      EXPECT_TRUE(std::ranges::equal(direct.y(), first)) << made.name;
    });
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryTalkingOperator, testing::Range(1, 5));

// What has no problems for one rank alone is among those above.
TEST(Talking, EveryOperatorWithoutProblemsIsTriedOnSeveralRanks) {
  std::vector<std::string> tried;
  for (const TalkingCase& made : talking_cases(2))
    for (const std::string& spec : made.specs) tried.push_back(Spec(spec).name());
  for (const OperatorRow* row : operators())
    if (row->problems.empty()) {
      EXPECT_NE(std::ranges::find(tried, row->name), tried.end()) << row->name;
    }
}

}  // namespace
}  // namespace isobar::ops
