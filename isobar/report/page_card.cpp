// The run card, the first section of the page.
#include "isobar/report/page_section.hpp"
#include "isobar/report/run_card.hpp"

namespace isobar::report {
namespace {

std::string card_section_html(const PageSource& source) { return card_html(run_card(source.run)); }

}  // namespace

extern const Section card_section{"card", "Run card", card_section_html};

}  // namespace isobar::report
