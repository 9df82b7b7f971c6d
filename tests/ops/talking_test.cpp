// Known answers of operators that talk.
#include "tests/ops/talking.hpp"

#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

using ByRank = std::vector<std::vector<float>>;

TEST(KnownAnswer, halo) {
  const std::vector<std::string> spec(3, "halo(axis=1, have=[0, 2, 2, 3, 3, 5], want=[0, 3, 1, 4, 2, 5])");
  const Talked found = talked({"halo", spec, {{{1, 2}}, {{1, 1}}, {{1, 2}}}}, {{1, 2}, {3}, {4, 5}},
                              {{1, 10, 100}, {2, 20, 200}, {3, 30, 300}});
  EXPECT_EQ(found.y, (ByRank{{1, 2, 3}, {2, 3, 4}, {3, 4, 5}}));
  EXPECT_EQ(found.dx, (ByRank{{1, 12}, {123}, {230, 300}}));
}

// Rows are wanted that are not next to those a rank has, and some of its own are not.
TEST(KnownAnswer, halo_from_afar) {
  const std::vector<std::string> spec(2, "halo(axis=1, have=[0, 2, 2, 4], want=[2, 4, 1, 3])");
  const Talked found =
      talked({"halo", spec, {{{2, 2}}, {{2, 2}}}}, {{1, 2, 5, 6}, {3, 4, 7, 8}}, {{1, 2, 3, 4}, {10, 20, 30, 40}});
  EXPECT_EQ(found.y, (ByRank{{3, 4, 7, 8}, {2, 3, 6, 7}}));
  EXPECT_EQ(found.dx, (ByRank{{0, 10, 0, 30}, {21, 2, 43, 4}}));
}

TEST(KnownAnswer, all_gather) {
  const std::vector<std::string> spec(2, "all_gather(axis=1, bounds=[0, 2, 3])");
  const Talked found = talked({"all_gather", spec, {{{1, 2}}, {{1, 1}}}}, {{1, 2}, {3}}, {{1, 2, 3}, {10, 20, 30}});
  EXPECT_EQ(found.y, (ByRank{{1, 2, 3}, {1, 2, 3}}));
  EXPECT_EQ(found.dx, (ByRank{{11, 22}, {33}}));
}

TEST(KnownAnswer, all_gather_copies) {
  const std::vector<std::string> spec(2, "all_gather(axis=1, bounds=[0, 2, 3], copies=true)");
  const Talked found = talked({"all_gather", spec, {{{1, 2}}, {{1, 1}}}}, {{1, 2}, {3}}, {{1, 2, 3}, {1, 2, 3}});
  EXPECT_EQ(found.dx, (ByRank{{2, 4}, {6}}));
}

TEST(KnownAnswer, reduce_scatter) {
  const std::vector<std::string> spec(2, "reduce_scatter(axis=1, bounds=[0, 2, 3])");
  const Talked found = talked({"reduce_scatter", spec, {{{1, 3}}, {{1, 3}}}}, {{1, 2, 3}, {10, 20, 30}}, {{1, 2}, {3}});
  EXPECT_EQ(found.y, (ByRank{{11, 22}, {33}}));
  EXPECT_EQ(found.dx, (ByRank{{1, 2, 3}, {1, 2, 3}}));
}

TEST(KnownAnswer, all_reduce) {
  const Talked found = talked({"all_reduce", std::vector<std::string>(3, "all_reduce"), {{{2, 1}}, {{2, 1}}, {{2, 1}}}},
                              {{1, 2}, {10, 20}, {100, 200}}, {{1, 0}, {2, 0}, {4, 5}});
  EXPECT_EQ(found.y, ByRank(3, {111, 222}));
  EXPECT_EQ(found.dx, ByRank(3, {7, 5}));
}

TEST(KnownAnswer, fan_out) {
  const Talked found = talked({"fan_out", std::vector<std::string>(3, "fan_out"), {{{2, 1}}, {{2, 1}}, {{2, 1}}}},
                              ByRank(3, {1, 2}), {{3, 6}, {6, 9}, {0, 3}});
  EXPECT_EQ(found.y, ByRank(3, {1, 2}));
  EXPECT_EQ(found.dx, ByRank(3, {3, 6}));
}

Talked letter_of(const char* receive, const char* send) {
  return talked({"letter", {receive, "", send}, {{}, {}, {{1, 2}}}}, {{}, {}, {1, 2}}, {{5, 7}, {}, {-1, -1}});
}

TEST(KnownAnswer, send) {
  const Talked found = letter_of("receive(from=2, shape=[1, 2])", "send(to=0)");
  EXPECT_EQ(found.dx[2], (std::vector<float>{5, 7}));  // what the receiver passes back, whatever is said here
}

TEST(KnownAnswer, receive) {
  const Talked found = letter_of("receive(from=2, shape=[1, 2])", "send(to=0)");
  EXPECT_EQ(found.y[0], (std::vector<float>{1, 2}));
}

TEST(KnownAnswer, receive_without_gradient) {
  const Spec receive = "receive(from=2, shape=[1, 2], gradient=false, ranks=3)";
  EXPECT_TRUE(make_operator(receive)->backward({cpu_engine()}, {}).empty());
  EXPECT_FALSE(make_operator(receive)->sends_gradient());
  comm::run_ranks(2, [](comm::Comm& comm) {
    if (comm.rank() == 0) {
      Direct first("send(to=1, gradient=false, ranks=2)", {{2, 1}});
      first.comm = &comm;
      std::ranges::copy(std::vector{3.f, 4.f}, first.x(0).begin());
      first.forward();
      first.backward();
    } else {
      Direct second("receive(from=0, shape=[2, 1], gradient=false, rank=1, ranks=2)", {});
      second.comm = &comm;
      second.forward();
      EXPECT_EQ(second.y()[1], 4);
      second.backward();
    }
  });
}

TEST(Talking, WrongSeatsAndRowsAreAnswered) {
  EXPECT_NE(failure([] { make_operator("all_reduce(ranks=2, rank=2)"); }).find("rank must be"), std::string::npos);
  EXPECT_NE(failure([] { make_operator("halo(axis=1, have=[0, 2], want=[0, 3])"); }).find("rows that exist"),
            std::string::npos);
  EXPECT_NE(failure([] { make_operator("reduce_scatter(axis=1, bounds=[0, 2, 2], ranks=2)"); }).find("some rows"),
            std::string::npos);
  EXPECT_NE(failure([] { make_operator("send(to=0)"); }).find("another rank"), std::string::npos);
  EXPECT_NE(failure([] { make_operator("receive(from=1, ranks=2)"); }).find("extents"), std::string::npos);
}

}  // namespace
}  // namespace isobar::ops
