#include "isobar/report/curves.hpp"

#include <gtest/gtest.h>

#include "isobar/record/sinks.hpp"

#include "tests/capture.hpp"

namespace isobar::report {
namespace {

using namespace isobar::tests;
train::EpochDone epoch(std::int64_t number, double train_loss, std::map<std::string, double> test) {
  return {.epoch = number, .step = 10 * number, .train_loss = train_loss, .test = std::move(test)};
}

TEST(Curves, LossesShareAPanelAndSoDoPartsOfAMetric) {
  const train::EpochDone epochs[] = {
      epoch(1, 2, {{"loss", 3}, {"accuracy", 0.5}, {"iou", 0.2}, {"iou.storm", 0.1}, {"confusion.0.1", 7}}),
      epoch(2, 1, {}),
      epoch(3, 0.5, {{"loss", 2}, {"accuracy", 0.75}, {"iou", 0.4}, {"iou.storm", 0.3}, {"confusion.0.1", 6}})};
  const std::vector<Panel> panels = panels_of(epochs);
  ASSERT_EQ(panels.size(), 3u);
  EXPECT_EQ(panels[0].title, "loss");
  ASSERT_EQ(panels[0].curves.size(), 2u);
  EXPECT_EQ(panels[0].curves[0].name, "training");
  EXPECT_EQ(panels[0].curves[0].values, (std::vector<double>{2, 1, 0.5}));
  EXPECT_EQ(panels[0].curves[1].name, "test");
  EXPECT_EQ(panels[0].curves[1].epochs, (std::vector<double>{1, 3}));
  EXPECT_EQ(panels[1].title, "accuracy");
  EXPECT_EQ(panels[1].curves[0].values, (std::vector<double>{0.5, 0.75}));
  EXPECT_EQ(panels[2].title, "iou");
  EXPECT_EQ(panels[2].curves[1].name, "storm");
}

TEST(Curves, ThePictureHasALinePerCurveInsideItsPanel) {
  const std::vector<Panel> panels{{"a<b", {{"training", {1, 2}, {4, 2}}, {"test", {2}, {3}}}}};
  const std::string svg = curves_svg(panels);
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("a&lt;b"), std::string::npos);
  // Axes have a margin of 4 % around the values: the first point is at the top left, the second at the bottom right.
  EXPECT_NE(svg.find("points=\"11.9,8.1 308.1,211.9 \""), std::string::npos) << svg;
  EXPECT_NE(svg.find("points=\"308.1,110.0 \""), std::string::npos) << svg;
  EXPECT_NE(svg.find("training 2"), std::string::npos);
  EXPECT_TRUE(curves_svg({}).ends_with("</svg>\n"));
}

TEST(Curves, AResumedRunIsDrawnFromItsBeginning) {
  const TemporaryFolder folder;
  const auto run = [&](std::int64_t first, std::int64_t last) {
    const auto lines = record::json_lines(), picture = curves();
    train::Start start;
    start.folder = folder.path();
    start.first_step = 10 * (first - 1);
    for (train::Sink* sink : {lines.get(), picture.get()}) {
      sink->start(start);
      for (std::int64_t e = first; e <= last; ++e)
        sink->epoch(epoch(e, 1.0 / static_cast<double>(e), {{"accuracy", 0.1 * static_cast<double>(e)}}));
      sink->end({});
    }
    return text_of(folder / "curves.svg");
  };
  const std::string whole = run(1, 4);
  run(1, 3);
  EXPECT_EQ(run(3, 4), whole);  // the third epoch is repeated
}

}  // namespace
}  // namespace isobar::report
