// Ranks side by side: the parts of a traced step on each of them. A rank that computes more than a tenth longer than
// the median delays all others and is marked. Ranks that keep parameters for others are shown by themselves.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/report/chart.hpp"
#include "isobar/report/figures.hpp"
#include "isobar/report/html.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

constexpr double straggling = 1.1;
constexpr std::size_t most_ranks = 64;

// A mean step of one rank, in seconds.
struct Load {
  const record::RankRecord* rank = nullptr;
  double compute = 0, communication = 0, input = 0, idle = 0, hidden = 0;
  double step() const { return compute + communication + input + idle; }
};

Load load_of(const record::RunRecord& run, const record::RankRecord& rank) {
  const auto totals = run.totals(rank);
  const auto steps = static_cast<double>(rank.steps.size());
  Load load{&rank};
  for (int c = 0; c < category_count; ++c) {
    const double seconds = totals[c].seconds / steps;
    switch (static_cast<Category>(c)) {
      case Category::communication: load.communication += seconds; break;
      case Category::input_output: load.input += seconds; break;
      case Category::idle: load.idle += seconds; break;
      default: load.compute += seconds;
    }
  }
  for (const record::ProfiledStep& step : rank.steps) load.hidden += step.hidden_exchange_seconds / steps;
  return load;
}

double median_compute(const std::vector<Load>& loads) {
  std::vector<double> all;
  for (const Load& load : loads) all.push_back(load.compute);
  const auto middle = all.begin() + ((all.size() - 1) / 2);  // of two, the faster one
  std::ranges::nth_element(all, middle);
  return *middle;
}

std::string drawn(const std::vector<Load>& loads, double median, double width) {
  const double left = 74, row = loads.size() > 24 ? 14 : 24, gap = 4, plot = width - left - 4;
  double longest = 0;
  for (const Load& load : loads) longest = std::max(longest, load.step());
  const double scale = plot / longest;
  std::string text;
  double y = 4;
  for (const Load& load : loads) {
    const bool late = load.compute > straggling * median;
    text += fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="end">{}rank {}</text>)",
                        late ? "late" : "tick", left - 6, y + row / 2 + 4, late ? "▲ " : "", load.rank->rank);
    double x = left;
    const std::pair<const char*, double> parts[] = {{"backward convolution", load.compute},
                                                    {"communication", load.communication},
                                                    {"I/O", load.input},
                                                    {"idle", load.idle}};
    for (const auto& [category, seconds] : parts) {
      if (seconds <= 0) continue;
      text += category_bar(x, y, scale * seconds, row, category,
                           fmt::format("rank {}, {}: {:.3f} ms", load.rank->rank,
                                       category == parts[0].first ? "compute" : category, 1e3 * seconds));
      x += scale * seconds;
    }
    y += row + gap;
    text += "\n";
  }
  text += fmt::format(R"(<path class="rule" d="M{:.1f} 0V{:.1f}"/>)", left + scale * median, y);
  const pictures::Axis axis{0, 1e3 * longest,
                            pictures::axis_over(std::array{0.0, 1e3 * longest}, {}, width > 600 ? 10 : 4).step};
  for (const Tick& tick : ticks_of(axis))
    text += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)",
                        left + plot * tick.place, y + 14, tick.place > 0.97 ? "end" : "middle", tick.label);
  text += fmt::format(R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="end">ms</text>)", left - 14, y + 14);
  return chart_svg(width, y + 20, "A step on each rank", text);
}

std::string table(const std::vector<Load>& loads, double median) {
  double longest = 0;
  for (const Load& load : loads) longest = std::max(longest, load.step());
  const Unit unit = seconds_unit(longest);
  std::vector<std::vector<std::string>> rows;
  for (const Load& load : loads) {
    const double over = median > 0 ? load.compute / median : 1;
    rows.push_back({fmt::format("{}", load.rank->rank), html_text(load.rank->host), unit.text(load.step()),
                    unit.text(load.compute), fmt::format("{:.2f}", over), unit.text(load.communication),
                    unit.text(load.hidden), unit.text(load.input), unit.text(load.idle),
                    over > straggling ? "<span class=\"bad\">▲ straggler</span>" : ""});
  }
  const auto in = [&](const char* name) { return Column{fmt::format("{}, {}", name, unit.name), true}; };
  const std::vector<Column> columns{{"rank", true},
                                    {"host"},
                                    in("step"),
                                    in("compute"),
                                    {"× median", true},
                                    in("exchange, exposed"),
                                    in("exchange, hidden"),
                                    in("waiting for input"),
                                    in("idle"),
                                    {""}};
  return html_table(columns, rows);
}

std::string servers_html(const std::vector<Load>& servers) {
  if (servers.empty()) return "";
  double longest = 0;
  for (const Load& load : servers) longest = std::max(longest, load.step());
  const Unit unit = seconds_unit(longest);
  std::vector<std::vector<std::string>> rows;
  for (const Load& load : servers)
    rows.push_back({fmt::format("{}", load.rank->rank), html_text(load.rank->host), unit.text(load.step()),
                    unit.text(load.compute), unit.text(load.communication), unit.text(load.idle)});
  const auto in = [&](const char* name) { return Column{fmt::format("{}, {}", name, unit.name), true}; };
  const std::vector<Column> columns{
      {"rank", true}, {"host"}, in("from one update to the next"), in("updating"), in("receiving and sending"),
      in("idle")};
  return "<h3>Ranks that keep parameters</h3>\n" + html_table(columns, rows);
}

std::string trainers_html(std::vector<Load> loads, const record::RunRecord& run) {
  const double median = median_compute(loads);
  const auto late = std::ranges::count_if(loads, [&](const Load& load) { return load.compute > straggling * median; });
  std::string text;
  if (loads.size() > 1)
    text = fmt::format(
        "<p>{} of {} ranks compute more than 10 % longer than the median ({:.4g} ms, the dashed line){}.</p>\n", late,
        loads.size(), 1e3 * median, late > 0 ? ": the stragglers (▲)" : "");
  else if (run.ranks == 1) text = "<p>One rank: there is nothing to compare it with. mpiexec -n 2 starts two.</p>\n";
  if (loads.size() > most_ranks) {
    std::ranges::stable_sort(loads, std::ranges::greater(), &Load::compute);
    text += note_html(fmt::format("Shown are the {} that compute longest.", most_ranks));
    loads.resize(most_ranks);
  }
  text +=
      "<ul class=\"key\"><li><i class=\"c2\"></i>compute</li><li><i class=\"c7\"></i>exchange, exposed</li>"
      "<li><i class=\"c8\"></i>waiting for input</li><li><i class=\"c9\"></i>idle</li></ul>\n";
  text += both_widths([&](double width) { return drawn(loads, median, width); });
  return text + table(loads, median);
}

std::string ranks_html(const PageSource& source) {
  std::vector<Load> trainers, servers;
  for (const record::RankRecord& rank : source.run.by_rank)
    if (!rank.steps.empty()) (rank.serves ? servers : trainers).push_back(load_of(source.run, rank));
  if (trainers.empty())
    return missing_html("No rank left a profile: report.trace_steps above 0 lets every rank write profile/.");
  std::string text;
  for (const record::RecordedSession& session : source.run.sessions)
    if (!session.exchanged.empty()) text += fmt::format("<p>{}</p>\n", html_text(session.exchanged));
  const int left = static_cast<int>(trainers.size() + servers.size());
  text += trainers_html(std::move(trainers), source.run);
  if (left < source.run.ranks)
    text += note_html(fmt::format("{} of {} ranks left a profile in this folder.", left, source.run.ranks));
  return text + servers_html(servers);
}

}  // namespace

extern const Section ranks_section{"ranks", "Ranks side by side", ranks_html};

}  // namespace isobar::report
