#include "isobar/report/page.hpp"

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/disk/disk_warnings.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/report/html.hpp"
#include "isobar/report/page_section.hpp"
#include "isobar/report/run_card.hpp"

namespace isobar::report {

extern const Section communication_section;  // page_communication.cpp
extern const Section configuration_section;  // page_configuration.cpp
extern const Section curves_section;         // page_curves.cpp
extern const Section kernels_section;        // page_kernels.cpp
extern const Section machine_section;        // page_machine.cpp
extern const Section memory_section;         // page_memory.cpp
extern const Section pictures_section;       // page_pictures.cpp
extern const Section ranks_section;          // page_ranks.cpp
extern const Section results_section;        // page_results.cpp
extern const Section roofline_section;       // page_roofline.cpp
extern const Section timeline_section;       // page_timeline.cpp

std::span<const Section* const> sections() {
  static constexpr Section card{"card", "Run card",
                                [](const PageSource& source) { return card_html(run_card(source.run)); }};
  static constexpr const Section* all[] = {&card,
                                           &results_section,
                                           &curves_section,
                                           &pictures_section,
                                           &kernels_section,
                                           &roofline_section,
                                           &timeline_section,
                                           &ranks_section,
                                           &communication_section,
                                           &memory_section,
                                           &configuration_section,
                                           &machine_section};
  return all;
}

std::string missing_html(std::string_view sentence) {
  return fmt::format("<p class=\"missing\">{}</p>\n", html_text(sentence));
}

std::string note_html(std::string_view sentence) {
  return fmt::format("<p class=\"note\">{}</p>\n", html_text(sentence));
}

namespace {

std::string name_of(const record::RunRecord& run) {
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(run.folder, none);
  return (whole.empty() ? run.folder : whole).filename().string();
}

// "2026-11-16 10:30 UTC" of "2026-11-16T10:30:00Z".
std::string moment(const std::string& started) {
  return started.size() == 20 ? fmt::format("{} {} UTC", started.substr(0, 10), started.substr(11, 5)) : started;
}

class PageSink final : public train::Sink {
 public:
  train::SinkTurn turn() const override { return train::SinkTurn::reader; }
  void start(const train::Start& start) override { folder_ = start.folder; }
  void end(const train::End&) override {
    try {
      disk::written_or_told([&] { write_page(folder_); });
    } catch (const std::exception& problem) {
      fmt::print(stderr, "isobar: warning: no report.html: {}\n", problem.what());
    }
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

std::string page(const record::RunRecord& run) {
  const PageSource source{run, record::read_trace(run.folder, 0)};
  const std::string name = name_of(run);
  std::string body = fmt::format(
      "<header>\n<h1>{}</h1>\n<p class=\"note\">A run of {}{}</p>\n<nav>", html_text(name), html_text(run.model()),
      run.started.empty() ? "" : fmt::format(", started {}", html_text(moment(run.started))));
  for (const Section* section : sections())
    body += fmt::format("<a href=\"#{}\">{}</a>\n", section->id, html_text(section->title));
  body += "</nav>\n</header>\n<main>\n";
  for (const Section* section : sections()) body += html_section(section->id, section->title, section->html(source));
  return html_page(fmt::format("{}: report", name), body + "</main>\n");
}

void write_page(const std::filesystem::path& folder) {
  const record::RunRecord run = record::read_run(folder);
  write_card(run, run_card(run));
  disk::write_text(folder / "report.html", page(run));
}

std::unique_ptr<train::Sink> page_sink() { return std::make_unique<PageSink>(); }

}  // namespace isobar::report
