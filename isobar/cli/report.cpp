// isobar report RUN...: the page and the run card of a run, or several runs side by side.
#include <filesystem>

#include "isobar/base/error.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/report/comparison.hpp"
#include "isobar/report/page.hpp"
#include "isobar/report/run_card.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> runs;
  std::string out;
};

void report_one(const ReportOptions& options) {
  const record::RunRecord run = record::read_run(options.runs[0]);
  const auto card = report::run_card(run);
  const fs::path file = options.out.empty() ? run.folder / "report.html" : fs::path(options.out);
  report::write_card(run, card);
  disk::write_text(file, report::page(run));
  fmt::print("{}\nwritten: {}, {}\n", report::card_text(card), file.string(), (run.folder / "run_card.json").string());
}

// The folder above the runs may be a run itself, whose own page must not be overwritten.
fs::path default_file(const std::vector<fs::path>& runs) {
  const fs::path parent = report::common_parent(runs);
  std::error_code none;
  return parent / (fs::exists(parent / "recipe.toml", none) ? "comparison.html" : "report.html");
}

void report_several(const ReportOptions& options) {
  const std::vector<fs::path> runs(options.runs.begin(), options.runs.end());
  const report::Comparison comparison = report::compare(runs);
  const fs::path file = options.out.empty() ? default_file(runs) : fs::path(options.out);
  disk::write_text(file, report::comparison_html(comparison));
  fmt::print("{}\nwritten: {}\n", report::comparison_text(comparison), file.string());
}

void declare_report(CLI::App& command) {
  auto options = std::make_shared<ReportOptions>();
  command.add_option("runs", options->runs, "folders of runs, finished or not; several are compared side by side")
      ->type_name("RUN")
      ->required();
  command
      .add_option("--out", options->out,
                  "the page (default: report.html in the folder of the run, or in the one that holds all of them)")
      ->type_name("FILE");
  command.callback([options] { options->runs.size() == 1 ? report_one(*options) : report_several(*options); });
}

}  // namespace

extern const Verb report_verb{"report", "make the page and the run card of a run, or compare several", declare_report};

}  // namespace isobar::cli
