// The report as a browser sees it: headless Chromium opens the page, and the tests examine the resulting document.
#include <cmath>
#include <cstdlib>
#include <regex>

#include <gtest/gtest.h>

#include "isobar/report/page.hpp"

#include "tests/capture.hpp"
#include "tests/report/made_run.hpp"

namespace isobar::report {
namespace {

using namespace isobar::tests;
struct Seen {
  std::string document, messages;  // the page after all scripts, and the messages on the console
};

// Opens a page, for at most a minute.
Seen browse(const TemporaryFolder& folder, const std::string& page) {
  const std::string home = folder.path().string();
  const std::string command = fmt::format(
      "HOME='{0}' timeout -k 5 60 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage "
      "--user-data-dir='{0}/browser' --window-size=1280,900 --virtual-time-budget=2000 --enable-logging=stderr "
      "--dump-dom 'file://{0}/{1}' >'{0}/document' 2>'{0}/messages'",
      home, page);
  const int status = std::system(command.c_str());
  Seen seen{text_of(folder / "document"), ""};
  const std::string all = text_of(folder / "messages");
  if (status != 0)
    ADD_FAILURE() << "chromium (a Debian package; make test installs it) ended with " << status << "\n" << all;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);)
    if (line.find("CONSOLE") != std::string::npos) seen.messages += line + "\n";
  return seen;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  return from == std::string::npos ? "" : text.substr(from, text.find(end, from) - from);
}

std::vector<std::smatch> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::smatch> found;
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i) found.push_back(*i);
  return found;
}

// Converts positions to values, according to the two outermost ticks of an axis.
struct Scale {
  double position_a = 0, value_a = 0, position_b = 1, value_b = 1;
  double value(double position) const {
    return value_a + (position - position_a) / (position_b - position_a) * (value_b - value_a);
  }
};

Scale scale(const std::string& panel, const char* tick) {
  const auto ticks = matches(panel, std::regex(tick));
  EXPECT_GE(ticks.size(), 2u) << panel;
  if (ticks.size() < 2) return {};
  return {std::stod(ticks.front()[1]), std::stod(ticks.front()[2]), std::stod(ticks.back()[1]),
          std::stod(ticks.back()[2])};
}

struct Point {
  double x, y;
};

// The points of the curve in this colour, in the units of the axes.
std::vector<Point> points(const std::string& panel, const std::string& colour) {
  const Scale across = scale(panel, R"re(<text class="tick" x="([-\d.]+)" y="238" text-anchor="middle">([-\d.e]+)<)re");
  Scale down = scale(panel, R"re(<text class="tick" x="-8" y="([-\d.]+)" text-anchor="end">([-\d.e]+)<)re");
  down.position_a -= 4, down.position_b -= 4;  // text is placed a little below its line
  const std::string marks = between(panel, "<g class=\"" + colour, "</g>");
  std::vector<Point> found;
  for (const auto& mark : matches(marks, std::regex(R"re(<circle cx="([-\d.]+)" cy="([-\d.]+)")re")))
    found.push_back({across.value(std::stod(mark[1])), down.value(std::stod(mark[2]))});
  return found;
}

std::vector<std::string> panels(const std::string& curves) {
  std::vector<std::string> found;
  for (std::size_t at = curves.find("<figure>"); at != std::string::npos; at = curves.find("<figure>", at + 1))
    found.push_back(curves.substr(at, curves.find("</figure>", at) - at));
  return found;
}

TEST(PageInABrowser, NothingIsWrongEverySectionIsThereAndChartsHaveMarks) {
  const TemporaryFolder folder;
  make_run(folder.path(), {.ranks = 4, .slow_rank = 2});
  write_page(folder.path());
  const Seen seen = browse(folder, "report.html");
  EXPECT_EQ(seen.messages, "");
  const auto section = [&](const std::string& id) {
    return between(seen.document, "<section id=\"" + id + "\">", "</section>");
  };
  const std::pair<const char*, std::pair<const char*, std::size_t>> marks[] = {
      {"card", {"<tr", 12}},           {"results", {"<b>", 8}},       {"curves", {"<circle", 32 + 4 * 4}},
      {"pictures", {"<figure>", 3}},   {"kernels", {"<tr", 11}},      {"roofline", {"<circle", 2 * 10}},
      {"timeline", {"<rect", 2 * 16}}, {"ranks", {"<rect", 2 * 16}},  {"communication", {"<tr", 2}},
      {"memory", {"<rect", 2 * 12}},   {"configuration", {"<tr", 5}}, {"machine", {"<tr", 5}}};
  for (const auto& [id, expected] : marks) {
    const std::string html = section(id);
    EXPECT_NE(html.find("<h2>"), std::string::npos) << id;
    EXPECT_GE(matches(html, std::regex(expected.first)).size(), expected.second) << id << "\n" << html;
  }
  // Compares curves with the metrics file.
  const std::vector<std::string> drawn = panels(section("curves"));
  ASSERT_EQ(drawn.size(), 3u);
  const std::vector<Point> steps = points(drawn[0], "s0"), train = points(drawn[1], "s0"),
                           test = points(drawn[1], "s1");
  ASSERT_EQ(steps.size(), 32u);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_NEAR(steps[i].x, static_cast<double>(i + 1), 0.02);
    EXPECT_NEAR(steps[i].y, made_loss(static_cast<std::int64_t>(i + 1)), 0.002);
  }
  ASSERT_EQ(train.size(), 4u);
  ASSERT_EQ(test.size(), 4u);
  for (std::int64_t e = 1; e <= 4; ++e) {
    EXPECT_NEAR(train[static_cast<std::size_t>(e - 1)].y, made_loss(8 * e - 3), 0.002);
    EXPECT_NEAR(test[static_cast<std::size_t>(e - 1)].x, static_cast<double>(e), 0.005);
    EXPECT_NEAR(test[static_cast<std::size_t>(e - 1)].y, made_test_loss(e), 0.002);
  }
}

TEST(PageInABrowser, AMistakeInAPageWouldBeSeen) {
  const TemporaryFolder folder;
  make_run(folder.path());
  write_page(folder.path());
  std::string page = text_of(folder / "report.html");
  page.insert(page.find("</body>"), "<script>no_such_function();</script>");
  std::ofstream(folder / "broken.html") << page;
  EXPECT_NE(browse(folder, "broken.html").messages.find("no_such_function"), std::string::npos);
}

}  // namespace
}  // namespace isobar::report
