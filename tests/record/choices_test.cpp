#include "isobar/record/choices.hpp"

#include <gtest/gtest.h>

#include "isobar/base/config.hpp"

#include "tests/expect_error.hpp"

namespace isobar::record {
namespace {

TEST(Choices, AreNamedWithTheSetThatDecided) {
  EXPECT_EQ(choices_text(parse_recipe("model = 'net'\n", "test")), "");
  EXPECT_EQ(choices_text(parse_recipe("[checkpoint]\nbest = ''\n[train]\npatience = 0\n[report]\ntarget = ''\n"
                                      "[data]\nvalidation = 0.1\n",
                                      "test")),
            "");
  const std::string all =
      "rate = 'warmup(then=scale(then=plateau(patience=3)))'\n[checkpoint]\nbest = 'mae'\n[train]\npatience = 2\n"
      "[report]\ntarget = 'mae<=0.1'\n";
  const std::string on_test = choices_text(parse_recipe(all, "test"));
  EXPECT_HAS(on_test, "judged on the test set");
  EXPECT_HAS(on_test, ": the best checkpoint, the end of training, the learning rate, the target;");
  EXPECT_HAS(on_test, "no validation set");
  const Spec validated = parse_recipe(all + "[data]\nvalidation = 'share(of=0.1, seed=1)'\n", "test");
  EXPECT_TRUE(has_validation(validated));
  EXPECT_EQ(choices_text(validated),
            "judged on the validation set: the best checkpoint, the end of training, the learning rate, the target");
  EXPECT_EQ(choices_text(parse_recipe("rate = 'plateau'\n[data]\ntest = 'noise'\nvalidation = 0.2\n", "test")),
            "judged on the validation set: the learning rate; the test set was only reported");
}

}  // namespace
}  // namespace isobar::record
