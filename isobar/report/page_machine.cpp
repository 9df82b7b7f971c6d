// Machine: where the run took place, the measured peaks of that machine, and the versions of the software.
#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/report/html.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

std::string machine_html(const PageSource& source) {
  const record::RunRecord& run = source.run;
  if (!run.described)
    return missing_html("Machine and versions are not known: run.json is missing; runs of this version write it.");
  auto pairs = run.machine;
  pairs.emplace_back("ranks",
                     fmt::format("{} on {} node{}, {} thread{} each", with_commas(run.ranks), with_commas(run.nodes),
                                 run.nodes == 1 ? "" : "s", run.threads, run.threads == 1 ? "" : "s"));
  for (const train::MembersChange& change : run.changes)
    pairs.emplace_back("members changed", fmt::format("{}, {:.2f} s", change.str(), change.seconds));
  if (!run.placement.empty()) pairs.emplace_back("placement", run.placement);
  if (run.peaks.flops_per_second > 0)
    pairs.emplace_back("measured peak",
                       fmt::format("{}/s and {}/s, all ranks together", human_flops(run.peaks.flops_per_second),
                                   human_bytes(run.peaks.bytes_per_second)));
  if (!run.peaks.how.empty()) pairs.emplace_back("measured by", run.peaks.how);
  std::string text = html_pairs(pairs);
  if (run.peaks.flops_per_second <= 0)
    text += missing_html("The peaks of this machine are not known: isobar doctor measures them.");
  if (!run.versions.empty()) text += "<h3>Versions</h3>\n" + html_pairs(run.versions);
  return text;
}

}  // namespace

extern const Section machine_section{"machine", "Machine and versions", machine_html};

}  // namespace isobar::report
