#include "isobar/sim/side_by_side.hpp"

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/sim/row_of_parts.hpp"

namespace isobar::sim {
namespace {

using Phase = ops::Talk::Phase;

std::vector<const Workload*> pointers(const std::vector<Workload>& parts) {
  std::vector<const Workload*> list;
  for (const Workload& part : parts) list.push_back(&part);
  return list;
}

std::vector<parallel::Placement> placed(int parts, int ranks) {
  return parallel::place(parts, *make(parallel::strategies(), Spec("sync"), "strategy"), ranks);
}

bool go(const std::vector<Workload>& parts) {
  const int count = static_cast<int>(std::ssize(parts));
  return go_together(pointers(parts), placed(count, 2 * count));
}

// Writes down what happens.
class Told final : public PartClocks {
 public:
  void compute_part(int part, double seconds) override {
    if (seconds > 0) text += fmt::format("{} computes, ", part);
  }
  void begin_talk(int part, JointTalk& meeting) override {
    text += fmt::format("{} begins {}, ", part, meeting.talks[static_cast<std::size_t>(part)]->number);
  }
  void meet(JointTalk& meeting) override { text += fmt::format("{} meet, ", meeting.parts); }
  void end_talk(int part, const JointTalk&) override { text += fmt::format("{} ends, ", part); }
  std::string text;
};

// The first part has to wait for the second, which for the third.
TEST(SideBySide, APartWaitsForThoseItTalksWith) {
  const std::vector<Workload> row = tests::row_of_parts(3, 8);
  const auto parts = pointers(row);
  SideBySide all(parts, placed(3, 6));
  Told told;
  for (const JointStretch& stretch : joint_pass(parts, &Workload::forward)) EXPECT_TRUE(all.play(stretch.parts, told));
  EXPECT_EQ(told.text,
            "0 computes, 0 begins 0, "
            "1 computes, 1 begins 0, 2 meet, 1 begins 1, 1 computes, 1 ends, "
            "2 computes, 2 begins 1, 2 meet, 2 computes, 2 ends, "
            "0 computes, 0 ends, 1 ends, ");
}

TEST(SideBySide, PartsThatTalkDifferentlyGoTogether) {
  for (const int parts : {1, 2, 3, 4, 8}) EXPECT_TRUE(go(tests::row_of_parts(parts, 100))) << parts;
}

TEST(SideBySide, PartsThatWaitForEachOtherForeverDoNot) {
  std::vector<Workload> row = tests::row_of_parts(3, 100);
  std::erase_if(row[2].forward, [](const Stretch& stretch) { return stretch.talk.has_value(); });
  EXPECT_FALSE(go(row)) << "the second waits for the third";
  row = tests::row_of_parts(2, 100);
  std::swap(row[0].forward, row[0].backward);
  EXPECT_FALSE(go(row)) << "one talks about gradients first";
  row = tests::row_of_parts(2, 100);
  row[1].parameters[0].count += 1;
  EXPECT_FALSE(go(row)) << "and sums need equal gradients";
}

// A part may talk with nobody where others do.
TEST(SideBySide, WhoSendsAndReceivesNothingWaitsForNobody) {
  std::vector<Workload> row = tests::row_of_parts(2, 100);
  row.push_back(tests::part_of_row(0, 2, 100));
  for (auto* pass : {&row[2].forward, &row[2].backward})
    for (Stretch& stretch : *pass)
      if (stretch.talk) stretch.talk->moves.clear();
  EXPECT_TRUE(go(row));
}

TEST(SideBySide, CirclesMustExist) {
  std::vector<Workload> row = tests::row_of_parts(2, 100);
  row[1].forward[1].talk->circle = "nobody";
  EXPECT_HAS(tests::error_of([&] { go(row); }), "messages in the circle 'nobody', which part 1 is not in");
}

}  // namespace
}  // namespace isobar::sim
