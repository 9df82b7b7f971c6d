#include "isobar/record/choices.hpp"

#include <vector>

#include <fmt/format.h>

#include "isobar/base/text.hpp"

namespace isobar::record {
namespace {

// Schedules may be nested: warmup(then=plateau).
bool names_plateau(const Spec& rate) {
  if (rate.name() == "plateau") return true;
  Args args(rate, "rate schedule");
  return args.has("then") && names_plateau(args.spec("then"));
}

}  // namespace

bool has_validation(const Spec& recipe) { return Args(recipe, "recipe").section("data").has("validation"); }

std::string choices_text(const Spec& recipe) {
  Args root(recipe, "recipe");
  std::vector<std::string> made;
  if (!root.section("checkpoint").text("best", "").empty()) made.push_back("the best checkpoint");
  if (root.section("train").integer("patience", 0) > 0) made.push_back("the end of training");
  if (root.has("rate") && names_plateau(root.spec("rate"))) made.push_back("the learning rate");
  if (!root.section("report").text("target", "").empty()) made.push_back("the target");
  if (made.empty()) return "";
  const std::string list = join(made, ", ");
  if (has_validation(recipe))
    return fmt::format("judged on the validation set: {}{}", list,
                       root.section("data").has("test") ? "; the test set was only reported" : "");
  return fmt::format(
      "judged on the test set, as the recipe has no validation set (data.validation): {}; test results may flatter",
      list);
}

}  // namespace isobar::record
