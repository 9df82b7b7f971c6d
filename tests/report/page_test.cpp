#include "isobar/report/page.hpp"

#include <regex>

#include <gtest/gtest.h>

#include "isobar/report/page_section.hpp"

#include "tests/capture.hpp"
#include "tests/report/made_run.hpp"

namespace isobar::report {
namespace {

using namespace isobar::tests;
std::string made_page(const MadeRun& run, const TemporaryFolder& folder) {
  make_run(folder.path(), run);
  write_page(folder.path());
  return text_of(folder / "report.html");
}

std::string section(const std::string& page, const std::string& id) {
  const std::size_t begin = page.find("<section id=\"" + id + "\">");
  if (begin == std::string::npos) return "";
  return page.substr(begin, page.find("</section>", begin) - begin);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// The cells of the row that begins with `name`.
std::vector<std::string> cells(const std::string& html, const std::string& name) {
  std::smatch row;
  const std::regex pattern("<tr[^>]*><td>(?:<span class=\"name\"><i class=\"c\\d\"></i>)?" + name +
                           "(?:</span>)?</td>(.*)</tr>");
  std::vector<std::string> found;
  if (!std::regex_search(html, row, pattern)) return found;
  const std::string rest = row[1];
  const std::regex cell("<td[^>]*>([^<]*)</td>");
  for (std::sregex_iterator i(rest.begin(), rest.end(), cell), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

TEST(Page, ItHasEverySectionOnceAndInOrder) {
  const TemporaryFolder folder;
  const std::string page = made_page({}, folder);
  std::size_t at = 0;
  for (const char* id : {"card", "results", "curves", "pictures", "kernels", "roofline", "timeline", "ranks",
                         "communication", "memory", "configuration", "machine"}) {
    const std::string opening = std::string("<section id=\"") + id + "\">";
    EXPECT_EQ(count(page, opening), 1u) << id;
    EXPECT_GT(page.find(opening), at) << id;
    at = page.find(opening);
    EXPECT_EQ(count(section(page, id), "class=\"missing\""), 0u) << section(page, id);
  }
  EXPECT_LT(page.size(), 200u << 10);
  // The only addresses are XML namespaces; nothing is fetched.
  EXPECT_EQ(count(page, "://"), count(page, "xmlns=\"http://www.w3.org/2000/svg\"") + count(page, "chrome://tracing"));
}

TEST(Page, ItTellsWhatWasRunHowItEndedAndHowFast) {
  const TemporaryFolder folder;
  const std::string results = section(made_page({}, folder), "results");
  EXPECT_NE(results.find("cosmoflow(size=32, width=16) on 2 ranks with 1 thread each, 4 samples a step. It finished "
                         "after 32 steps, 4 of 4 epochs"),
            std::string::npos)
      << results;
  EXPECT_NE(results.find("<b>0.295</b><span>test loss</span>"), std::string::npos) << results;
  EXPECT_NE(results.find("<b>200</b><span>samples/s</span>"), std::string::npos) << results;
  EXPECT_NE(results.find("<b>90.0 GF/s</b>"), std::string::npos) << results;
  EXPECT_NE(results.find("<b>7.5 %</b><span>of the measured peak</span>"), std::string::npos) << results;
}

TEST(Page, TheCategoriesAddUpToTheStep) {
  const TemporaryFolder folder;
  const std::string kernels = section(made_page({}, folder), "kernels");
  // Kernels, ms, GF, MB, % of time, of the peak and of the bandwidth of one of two ranks: 600 GF/s and 10 GB/s.
  EXPECT_EQ(cells(kernels, "forward convolution"),
            (std::vector<std::string>{"3", "3.80", "0.901", "15.10", "19.0", "39.5", "39.7"}));
  EXPECT_EQ(cells(kernels, "idle"), (std::vector<std::string>{"1", "0.40", "", "", "2.0", "", ""}));
  EXPECT_EQ(cells(kernels, "type conversions")[0], "0");
  EXPECT_EQ(cells(kernels, "the whole step"),
            (std::vector<std::string>{"15", "20.00", "2.257", "58.30", "100.0", "18.8", "29.2"}));
  EXPECT_NE(kernels.find("FMA loop and triad over 256 MB, 2 threads"), std::string::npos);
  EXPECT_NE(kernels.find("over 4 traced steps of 2 ranks"), std::string::npos) << kernels;
  EXPECT_EQ(cells(kernels, "conv1 conv weight gradient"),
            (std::vector<std::string>{"4.000", "20.0", "112.5", "18.8", "2.5", "25.0"}));
}

TEST(Page, StragglersAreMarked) {
  const TemporaryFolder even, uneven;
  EXPECT_EQ(count(section(made_page({}, even), "ranks"), "straggler</span>"), 0u);
  const std::string ranks = section(made_page({.ranks = 4, .slow_rank = 2}, uneven), "ranks");
  EXPECT_EQ(count(ranks, "▲ straggler</span>"), 1u) << ranks;
  EXPECT_EQ(count(ranks, "▲ rank 2"), 2u) << ranks;  // drawn for two widths
  EXPECT_NE(ranks.find("1 of 4 ranks compute more than 10 % longer"), std::string::npos) << ranks;
}

TEST(Page, CommunicationSaysHowMuchOfItIsHidden) {
  const TemporaryFolder whole;
  const std::string gradients = section(made_page({}, whole), "communication");
  EXPECT_EQ(cells(gradients, "gradients"),
            (std::vector<std::string>{"2", "500.0", "3.200", "0.200", "1.0 %", "93.8 %"}))
      << gradients;
  EXPECT_TRUE(cells(gradients, "messages of the model").empty());
  EXPECT_EQ(count(gradients, "layer by layer"), 0u);
}

TEST(Page, MessagesOfAModelThatIsCutAreShownByLayer) {
  const TemporaryFolder folder;
  const std::string page = made_page({.ranks = 4, .ways = 2}, folder), talk = section(page, "communication");
  EXPECT_NE(talk.find("Each model is cut over 2 ranks; rank 0 has depth 0-15 of 32."), std::string::npos) << talk;
  EXPECT_EQ(cells(talk, "messages of the model"),
            (std::vector<std::string>{"4", "5.000", "3.000", "0.600", "3.0 %", "80.0 %"}))
      << talk;
  EXPECT_EQ(cells(talk, "gradients"), (std::vector<std::string>{"2", "0.500", "3.200", "0.200", "1.0 %", "93.8 %"}));
  // Partners, MB, ms under way and waited, and what is hidden; the longest wait first.
  EXPECT_EQ(cells(talk, "conv1 halo"), (std::vector<std::string>{"1 of replica", "4.000", "2.000", "0.100", "95.0 %"}))
      << talk;
  EXPECT_EQ(cells(talk, "conv2 halo"),
            (std::vector<std::string>{"1, 2 of replica", "1.000", "1.000", "0.500", "50.0 %"}));
  EXPECT_LT(talk.find("conv2 halo"), talk.find("conv1 halo"));
  EXPECT_NE(
      section(page, "card").find("one model over 2 ranks: messages of the model were waited for in 3.0 % of the steps"),
      std::string::npos)
      << section(page, "card");
}

TEST(Page, RanksThatKeepParametersAreNotAmongThoseThatTrain) {
  const TemporaryFolder folder;
  const std::string page = made_page({.ranks = 3, .servers = 1}, folder), ranks = section(page, "ranks");
  EXPECT_NE(ranks.find("64 updates (rank 0: 32, rank 1: 32)"), std::string::npos) << ranks;
  EXPECT_NE(ranks.find("0 of 2 ranks compute more than 10 % longer"), std::string::npos) << ranks;
  const std::size_t servers = ranks.find("<h3>Ranks that keep parameters</h3>");
  ASSERT_NE(servers, std::string::npos) << ranks;
  EXPECT_EQ(ranks.substr(0, servers).find(">rank 2<"), std::string::npos) << ranks;
  EXPECT_NE(section(page, "kernels").find("over 4 traced steps of 2 ranks together."), std::string::npos);
  // They are at different steps, so that only the first can be counted.
  EXPECT_NE(section(page, "results").find("<b>200</b><span>samples/s on rank 0</span>"), std::string::npos);
}

TEST(Page, ARunThatWasKilledIsShownAsFarAsItCame) {
  const TemporaryFolder folder;
  const std::string page = made_page({.reason = "", .pictures = false}, folder);
  EXPECT_NE(section(page, "results").find("It has not ended: it is still running or was killed. Recorded: 32 steps"),
            std::string::npos);
  EXPECT_NE(section(page, "pictures").find("class=\"missing\""), std::string::npos);
  EXPECT_EQ(count(section(page, "curves"), "<polyline"), 5u);
}

TEST(Page, WithoutDataASectionSaysWhatWouldGiveIt) {
  const TemporaryFolder folder;
  std::ofstream(folder / "recipe.toml") << "model = \"cosmoflow\"\n";
  write_page(folder.path());
  const std::string page = text_of(folder / "report.html");
  for (const char* id :
       {"curves", "pictures", "kernels", "roofline", "timeline", "ranks", "communication", "memory", "machine"})
    EXPECT_EQ(count(section(page, id), "class=\"missing\""), 1u) << section(page, id);
}

TEST(Page, WithoutPeaksNothingIsComparedWithThem) {
  const TemporaryFolder folder;
  const std::string page = made_page({.peaks = false}, folder);
  EXPECT_EQ(count(section(page, "roofline"), "class=\"roof\""), 0u);
  for (const char* id : {"kernels", "roofline", "machine"})
    EXPECT_NE(section(page, id).find("isobar doctor measures them"), std::string::npos) << id;
  EXPECT_EQ(cells(section(page, "kernels"), "the whole step")[5], "");
}

TEST(Page, APeakThatWasExceededIsNoPeak) {
  const TemporaryFolder folder;
  const std::string page = made_page({.peak_flops = 8e10}, folder);
  EXPECT_EQ(section(page, "results").find("of the measured peak</span>"), std::string::npos);
  for (const char* id : {"results", "kernels"})
    EXPECT_EQ(count(section(page, id), "More than 100 % of the measured peak"), 1u) << section(page, id);
}

TEST(Page, PicturesArePartOfThePageAndTheirTextIsText) {
  const TemporaryFolder folder;
  const std::string pictures = section(made_page({}, folder), "pictures");
  EXPECT_EQ(count(pictures, "src=\"data:image/svg+xml;base64,PHN2ZyB4"), 1u) << pictures;
  EXPECT_EQ(count(pictures, "src=\"data:image/png;base64,iVBORw0KGgo"), 1u) << pictures;
  EXPECT_NE(pictures.find("<pre>Once &lt;upon&gt; a time"), std::string::npos) << pictures;
  EXPECT_NE(pictures.find("Input &amp; label."), std::string::npos) << pictures;
}

TEST(Page, AStepOfManyKernelsStaysASmallPicture) {
  const TemporaryFolder folder;
  make_run(folder.path());
  std::ofstream trace(folder / "trace/rank0.json");
  for (int i = 0; i < 6000; ++i)
    trace << (i == 0 ? "[\n" : ",\n")
          << nlohmann::json{{"name", "kernel"}, {"cat", i % 2 == 0 ? "forward convolution" : "copies/transposes"},
                            {"ph", "X"},        {"ts", 10 * i},
                            {"dur", 10},        {"pid", 0},
                            {"tid", 1},         {"args", {{"step", 1}, {"flops", 1.0}, {"bytes", 1.0}}}}
                 .dump();
  trace << "\n]\n";
  trace.close();
  write_page(folder.path());
  const std::string timeline = section(text_of(folder / "report.html"), "timeline");
  EXPECT_GT(count(timeline, "<rect"), 500u);
  EXPECT_LT(count(timeline, "<rect"), 1600u);
  EXPECT_NE(timeline.find("kernels, "), std::string::npos);
}

TEST(Page, TheSinkWritesItAtTheEndAndAFailureIsNotTheRuns) {
  const TemporaryFolder folder;
  make_run(folder.path());
  const auto sink = page_sink();
  train::Start start;
  start.folder = folder.path();
  sink->start(start);
  EXPECT_FALSE(std::filesystem::exists(folder / "report.html"));
  sink->end({});
  EXPECT_TRUE(std::filesystem::exists(folder / "report.html"));
  start.folder = folder / "nowhere";
  sink->start(start);
  testing::internal::CaptureStderr();
  EXPECT_NO_THROW(sink->end({}));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("warning: no report.html"), std::string::npos);
}

TEST(Page, TextOfARunIsNotMarkup) {
  const TemporaryFolder folder;
  const std::string page = made_page({}, folder);
  EXPECT_NE(page.find("Made Processor &lt;at&gt; 2.8 GHz"), std::string::npos);
  EXPECT_EQ(page.find("<at>"), std::string::npos);
}

}  // namespace
}  // namespace isobar::report
