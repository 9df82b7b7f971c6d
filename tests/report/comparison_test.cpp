#include "isobar/report/comparison.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/report/card_run.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::report {
namespace {

using tests::error_of;
using tests::TemporaryFolder;

std::string all_notes(const Comparison& comparison) {
  std::string text;
  for (const std::string& note : comparison.notes) text += note + "\n";
  return text;
}

std::vector<std::string> values(const Comparison& comparison, const std::string& name) {
  for (const ComparedFigure& figure : compared_figures(comparison))
    if (figure.name == name) return figure.values;
  return {};
}

using Values = std::vector<std::string>;

TEST(Comparison, TellsWhatDiffersBetweenTheRecipes) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> runs{
      written(folder / "a"), written(folder / "b", {.optimizer = "sgd(lr=0.02)", .strategy = "lagged(k=1)"}),
      written(folder / "c", {.optimizer = "adam"})};
  const Comparison comparison = compare(runs);
  ASSERT_EQ(comparison.differences.size(), 4u);
  EXPECT_EQ(comparison.differences[0].key, "optimizer");
  EXPECT_EQ(comparison.differences[0].values, (Values{"sgd", "sgd", "adam"}));
  EXPECT_EQ(comparison.differences[1].key, "optimizer.lr");
  EXPECT_EQ(comparison.differences[1].values, (Values{"0.01", "0.02", ""}));
  EXPECT_EQ(comparison.differences[2].values, (Values{"sync", "lagged", "sync"}));
  EXPECT_EQ(all_notes(comparison), "");
  EXPECT_EQ(comparison.runs[1].label, "b");
  EXPECT_FALSE(comparison.scaling.has_value());
}

TEST(Comparison, GivesFiguresSideBySide) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> runs{
      written(folder / "a"), written(folder / "b", {.first_value = 0.15, .last_value = 0.05, .step_seconds = 0.05})};
  const Comparison comparison = compare(runs);
  EXPECT_EQ(comparison.metric, "mae");
  EXPECT_EQ(values(comparison, "test mae"), (Values{"0.1", "0.05"}));
  EXPECT_EQ(values(comparison, "samples/s"), (Values{"40", "80"}));
  EXPECT_EQ(values(comparison, "ms/step"), (Values{"100", "50"}));
  EXPECT_EQ(values(comparison, "GF/s"), (Values{"40", "80"}));
  EXPECT_EQ(values(comparison, "% of measured peak"), (Values{"40.0", "80.0"}));
  EXPECT_EQ(values(comparison, "exposed communication"), (Values{"20.0 %", "40.0 %"}));
  // All reached 0.1: the first at its end (3.25 s and 2.5 s of staging), the second too (2.25 s).
  EXPECT_EQ(values(comparison, "time to mae<=0.1"), (Values{"5.75 s", "4.75 s"}));
  const std::string text = comparison_text(comparison);
  EXPECT_HAS(text, "2 runs side by side");
  EXPECT_HAS(text, "The recipes do not differ");
  EXPECT_HAS(text, "what all of them reached");
  EXPECT_HAS(text, "12 time and accuracy against the reference");
}

TEST(Comparison, NamesScalingByTheGlobalBatch) {
  const TemporaryFolder folder;
  const auto one = written(folder / "1"), strong = written(folder / "2s", {.ranks = 2, .step_seconds = 0.0625}),
             weak = written(folder / "2w", {.ranks = 2, .batch = 8, .step_seconds = 0.125}),
             neither = written(folder / "2n", {.ranks = 2, .batch = 6}),
             other = written(folder / "2o", {.strategy = "lagged(k=1)", .ranks = 2});
  using Paths = std::vector<std::filesystem::path>;
  const Comparison s = compare(Paths{one, strong});
  EXPECT_EQ(s.scaling, Scaling::strong);
  EXPECT_EQ(values(s, "efficiency, strong scaling"), (Values{"100.0 %", "80.0 %"}));
  EXPECT_HAS(comparison_text(s), "strong scaling, constant global batch");
  const Comparison w = compare(Paths{one, weak});
  EXPECT_EQ(values(w, "efficiency, weak scaling"), (Values{"100.0 %", "80.0 %"}));
  EXPECT_HAS(all_notes(compare(Paths{one, neither})), "neither strong nor weak scaling");
  EXPECT_HAS(all_notes(compare(Paths{one, other})), "not a scaling study");
  EXPECT_HAS(all_notes(compare(Paths{one, strong, weak})), "neither strong nor weak scaling");
}

TEST(Comparison, SaysWhatDoesNotCompare) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> runs{written(folder / "a"),
                                                written(folder / "b", {.model = "lenet",
                                                                       .train = "mnist(path=m)",
                                                                       .test = "mnist(path=n)",
                                                                       .metrics = R"(["accuracy"])",
                                                                       .metric = "accuracy",
                                                                       .processor = "Another",
                                                                       .inputs = "28x28x1"}),
                                                written(folder / "c", {.reason = "", .resumed_with = 2})};
  const Comparison comparison = compare(runs);
  const std::string notes = all_notes(comparison);
  for (const char* part :
       {"networks differ (cosmoflow; lenet)", "different data (", "Tested on different data",
        "Samples are of different size", "processors differ", "c has not ended", "c was resumed with other ranks"})
    EXPECT_HAS(notes, part);
  EXPECT_EQ(comparison.metric, "");  // c was not judged by the metric of b
  EXPECT_FALSE(comparison.target.has_value());
  EXPECT_EQ(values(comparison, "test accuracy"), (Values{"", "0.1", ""}));
}

TEST(Comparison, RunsAreJudgedByWhatAllHave) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> runs{written(folder / "a", {.extra = "target = \"loss<=9\"\n"}),
                                                written(folder / "b")};
  EXPECT_EQ(compare(runs).metric, "loss");
}

TEST(Comparison, ARunWithNothingButARecipe) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> runs{written(folder / "a"), written(folder / "b")};
  for (const char* file : {"metrics.jsonl", "timing.jsonl", "history.jsonl", "run.json"})
    std::filesystem::remove(runs[1] / file);
  const Comparison comparison = compare(runs);
  EXPECT_EQ(values(comparison, "samples/s"), (Values{"40", ""}));
  EXPECT_HAS(comparison_text(comparison), "b has not ended");
  EXPECT_HAS(comparison_html(comparison), "b has not ended");
}

TEST(Comparison, ThePageShowsCurvesAndCategories) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> runs{written(folder / "x" / "<a>"), written(folder / "y" / "b")};
  const Comparison comparison = compare(runs);
  const std::string html = comparison_html(comparison);
  for (const char* id : {"id=\"figures\"", "id=\"differences\"", "id=\"curves\"", "id=\"categories\"", "id=\"cards\""})
    EXPECT_HAS(html, id);
  EXPECT_HAS(html, "x/&lt;a&gt;");
  EXPECT_FALSE(tests::contains(html, "<a>"));
  EXPECT_HAS(comparison_curves(comparison), "<polyline");
  EXPECT_HAS(comparison_categories(comparison), "forward convolution");
  EXPECT_EQ(common_parent(runs), std::filesystem::weakly_canonical(folder.path()));
}

TEST(Comparison, WrongFoldersAreNamed) {
  const TemporaryFolder folder;
  const auto run = written(folder / "a");
  using Paths = std::vector<std::filesystem::path>;
  EXPECT_HAS(error_of([&] { compare(Paths{run, folder / "none"}); }), "none' is not the folder of a run");
  EXPECT_HAS(error_of([&] { compare(Paths{run, folder / "." / "a"}); }), "is named twice");
}

}  // namespace
}  // namespace isobar::report
