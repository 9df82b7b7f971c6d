#include "isobar/ops/tuning_text.hpp"

#include <gtest/gtest.h>

namespace isobar::ops {
namespace {

Tuning example() {
  Tuning tuning;
  tuning.set("conv1", Direction::forward, {{{"im2col", 8}}});
  tuning.set("conv1", Direction::weight_gradient, {{{"winograd", 4}, {"winograd", 3}, {"direct", 1}}});
  tuning.set("a name / with spaces", Direction::data_gradient, {{{"flipped", 2}}});
  return tuning;
}

TEST(TuningText, IsReadBack) {
  const auto back = parse_tuning(tuning_text(example()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, example());
  EXPECT_EQ(*parse_tuning(tuning_text({})), Tuning{});
}

TEST(TuningText, IsReadableByPeople) {
  EXPECT_EQ(choice_line({"conv1", Direction::weight_gradient, {{{"winograd", 4}, {"direct", 1}}}}),
            "weight winograd:4,direct:1 conv1");
}

// A truncated or changed text is either rejected or read as another choice.
TEST(TuningText, DamageIsRefused) {
  const std::string text = tuning_text(example());
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(parse_tuning(text.substr(0, length)) && length + 1 < text.size()) << length;
  for (std::size_t at = 0; at < text.size(); ++at)
    for (const char c : {'\0', '\n', ':', ',', ' ', '9', '-'}) {
      std::string changed = text;
      changed[at] = c;
      parse_tuning(changed);
    }
  for (const char* line :
       {"", "forward", "forward im2col:8", "forward im2col:8 ", "sideways im2col:8 a", "data :1 a", "data im2col:0 a",
        "data im2col:-1 a", "data im2col:1x a", "data im2col:99999999999999999999 a", "data im2col:1,,direct:1 a"})
    EXPECT_FALSE(parse_choice(line)) << line;
}

TEST(TuningText, NamesWithEndsOfLinesAreNotKept) {
  Tuning tuning;
  tuning.set("two\nlines", Direction::forward, {{{"direct", 1}}});
  EXPECT_EQ(*parse_tuning(tuning_text(tuning)), Tuning{});
}

}  // namespace
}  // namespace isobar::ops
