// The page of `isobar bench`: self-contained HTML with one table of records per level, aims marked as reached or
// missed, and for every network where its time goes.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/bench/record_text.hpp"
#include "isobar/cli/bench_level.hpp"
#include "isobar/report/html.hpp"

namespace isobar::cli {
namespace {

using bench::Record;
using Cells = std::vector<std::string>;

// "2.71x" in the colour of its aim, if it has one.
std::string judged(const std::string& value, double asked, bool met, const char* bound) {
  if (asked <= 0) return html_text(value);
  return fmt::format("<span class=\"{}\">{} {}</span><br><span class=\"note\">aim: {} {:.4g}</span>",
                     met ? "good" : "bad", met ? "&#10003;" : "&#10007;", html_text(value), bound, asked);
}

// Lines below each other, the first one large.
std::string lines_cell(const std::string& first, const std::vector<std::string>& others) {
  std::string cell = html_text(first);
  for (const std::string& line : others)
    cell += fmt::format("{}<span class=\"note\">{}</span>", cell.empty() ? "" : "<br>", html_text(line));
  return cell;
}

std::string our_cell(const Record& r) {
  const double seconds = r.ours().seconds.median;
  std::vector<std::string> rates;
  if (r.flops > 0 && seconds > 0) rates.push_back(fmt::format("{:.1f} GF/s", r.flops / seconds * 1e-9));
  if (r.bytes > 0 && seconds > 0) rates.push_back(fmt::format("{:.1f} GB/s", r.bytes / seconds * 1e-9));
  if (r.samples > 0 && seconds > 0) rates.push_back(fmt::format("{:.4g} samples/s", r.samples / seconds));
  rates.push_back(fmt::format("{} runs", r.ours().runs));
  return lines_cell(bench::time_text(r.ours().seconds), {join(rates, ", ")});
}

std::string peer_cell(const Record& r) {
  const bench::Entry* peer = r.best_peer();
  return peer ? lines_cell(bench::time_text(peer->seconds), {peer->name}) : "";
}

std::string facts_cell(const Record& r) {
  std::vector<std::string> facts;
  if (r.workspace_bytes > 0) facts.push_back("workspace: " + human_bytes(r.workspace_bytes));
  for (const auto& [name, value] : r.facts) facts.push_back(fmt::format("{}: {:.4g}", name, value));
  return lines_cell("", facts);
}

std::string speed_cell(const Record& r) {
  if (r.speedup.median <= 0) return "";
  return judged(bench::with_interval(r.speedup, 1, 2), r.asked.speed, r.speedup.median >= r.asked.speed, "at least");
}

std::string bound_cell(double value, double most) {
  return value > 0 ? judged(fmt::format("{:.2f}", value), most, value <= most, "at most") : "";
}

std::string profile_part(const Record& r) {
  constexpr std::size_t most = 20;
  std::vector<Cells> rows;
  for (const bench::MeasuredKernel& k : r.profile) {
    if (rows.size() == most) break;
    rows.push_back({html_text(k.name), html_text(k.shape), html_text(k.library ? "oneDNN" : k.category),
                    fmt::format("{:.2f}", k.seconds * 1e3),
                    fmt::format("{:.1f} %", 100 * k.seconds / std::max(1e-12, r.ours().seconds.median)),
                    k.seconds > 0 ? fmt::format("{:.1f}", k.flops / k.seconds * 1e-9) : "",
                    k.seconds > 0 ? fmt::format("{:.1f}", k.bytes / k.seconds * 1e-9) : ""});
  }
  const report::Column columns[] = {{"kernel"},          {"makes"},      {"kind"},      {"ms", true},
                                    {"of a step", true}, {"GF/s", true}, {"GB/s", true}};
  return fmt::format("<details{}><summary>{}, {}: where its time goes</summary>\n{}</details>\n",
                     bench::reached(r) ? "" : " open", html_text(r.name), html_text(r.problem),
                     report::html_table(columns, rows));
}

std::string level_part(const std::string& level, const std::vector<const Record*>& records) {
  std::string title = level;
  for (const BenchLevel* known : bench_levels())
    if (known->name == level) title = fmt::format("{}: {}", level, known->summary);
  const auto any = [&](auto has) { return std::any_of(records.begin(), records.end(), has); };
  const bool memory = any([](const Record* r) { return r->memory_ratio() > 0; });
  const bool bare = any([](const Record* r) { return r->bare_seconds > 0; });
  std::vector<report::Column> columns{{"row"}, {"isobar", true}, {"best peer", true}, {"times as fast", true}};
  if (memory) columns.push_back({"of its memory", true});
  if (bare) columns.push_back({"over bare primitives", true});
  const bool facts = any([](const Record* r) { return r->workspace_bytes > 0 || !r->facts.empty(); });
  if (facts) columns.push_back({"facts"});
  std::vector<Cells> rows;
  std::string profiles;
  for (const Record* r : records) {
    Cells& row = rows.emplace_back(
        Cells{fmt::format("<b>{}</b><br><span class=\"note\">{}</span>", html_text(r->name), html_text(r->problem)),
              our_cell(*r), peer_cell(*r), speed_cell(*r)});
    if (memory) row.push_back(bound_cell(r->memory_ratio(), r->asked.memory_ratio));
    if (bare) row.push_back(bound_cell(r->over_bare(), r->asked.over_bare));
    if (facts) row.push_back(facts_cell(*r));
    if (!r->profile.empty()) profiles += profile_part(*r);
  }
  return report::html_section(level, title, report::html_table(columns, rows) + profiles);
}

// Where and when rows were measured, without repetitions.
std::string circumstances(const std::vector<const Record*>& records) {
  std::set<std::string> machines, programs, threads, days;
  for (const Record* r : records) {
    machines.insert(r->where.machine);
    programs.insert(r->where.program);
    threads.insert(std::to_string(r->where.threads));
    days.insert(r->where.when.substr(0, 10));
  }
  const auto all = [](const std::set<std::string>& values) { return fmt::format("{}", fmt::join(values, "; ")); };
  const std::pair<std::string, std::string> pairs[] = {
      {"machine", all(machines)}, {"program", all(programs)}, {"threads", all(threads)}, {"day (UTC)", all(days)}};
  return report::html_pairs(pairs);
}

}  // namespace

std::string bench_page(const std::vector<Record>& records) {
  std::map<std::string, const Record*> last;
  for (const Record& r : records) last[r.key()] = &r;
  std::vector<const Record*> shown;
  std::vector<std::string> levels;
  for (const Record& r : records) {
    if (last.at(r.key()) != &r) continue;
    shown.push_back(&r);
    if (std::find(levels.begin(), levels.end(), r.level) == levels.end()) levels.push_back(r.level);
  }
  const auto bars = std::count_if(shown.begin(), shown.end(), [](const Record* r) {
    return r->asked.speed > 0 || r->asked.memory_ratio > 0 || r->asked.over_bare > 0;
  });
  const auto missed = std::count_if(shown.begin(), shown.end(), [](const Record* r) { return !bench::reached(*r); });
  std::string body =
      "<h1>Side by side</h1>\n<p>Medians with their 95 % intervals, all contestants taking turns in one "
      "run. Some rows have an aim, so that it shows when they become slower: &#10003; reached, &#10007; missed. On "
      "other processors than those of the README, aims may be out of reach.</p>\n";
  body += fmt::format(
      "<div class=\"cards\"><div><b>{}</b><span>rows</span></div><div><b class=\"good\">{}</b><span>reach their "
      "aims</span></div><div><b class=\"{}\">{}</b><span>miss an aim</span></div></div>\n",
      shown.size(), bars - missed, missed > 0 ? "bad" : "good", missed);
  body += circumstances(shown);
  body += "<nav>";
  for (const std::string& level : levels) body += fmt::format("<a href=\"#{0}\">{0}</a>", html_text(level));
  body += "</nav>\n";
  for (const std::string& level : levels) {
    std::vector<const Record*> of_level;
    std::copy_if(shown.begin(), shown.end(), std::back_inserter(of_level),
                 [&](const Record* r) { return r->level == level; });
    body += level_part(level, of_level);
  }
  return report::html_page("isobar bench", body);
}

}  // namespace isobar::cli
