#include "isobar/bench/compare.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "isobar/bench/record_text.hpp"

namespace isobar::bench {
namespace {

std::map<std::string, const Record*> by_key(const std::vector<Record>& records) {
  std::map<std::string, const Record*> all;
  for (const Record& record : records) all[record.key()] = &record;
  return all;
}

ComparedRow compared(const std::string& key, const Summary& before, const Summary& now, double threshold) {
  ComparedRow row{key, Change::none, before, now};
  const auto over = [](double a, double b) { return b > 0 ? a / b : 0; };
  row.ratio = {over(before.median, now.median), over(before.low, now.high), over(before.high, now.low)};
  const bool apart = before.high < now.low || now.high < before.low;
  if (apart && now.median > before.median * (1 + threshold)) row.change = Change::slower;
  if (apart && before.median > now.median * (1 + threshold)) row.change = Change::faster;
  return row;
}

// Differences between the circumstances of two files.
template <class Of>
void tell_difference(const std::vector<Record>& before, const std::vector<Record>& now, const char* what, const Of& of,
                     std::vector<std::string>& differences) {
  std::set<std::string> old, fresh;
  for (const Record& r : before) old.insert(of(r.where));
  for (const Record& r : now) fresh.insert(of(r.where));
  if (old.empty() || fresh.empty() || old == fresh) return;
  differences.push_back(
      fmt::format("other {}: {} before, {} now", what, fmt::join(old, " and "), fmt::join(fresh, " and ")));
}

std::string lines_of(const RecordComparison& comparison, Change change, const char* title) {
  std::string text;
  for (const ComparedRow& row : comparison.rows) {
    if (row.change != change) continue;
    if (text.empty()) text = fmt::format("{}:\n", title);
    if (change == Change::gone || change == Change::added) {
      text += fmt::format("  {}\n", row.key);
      continue;
    }
    text += fmt::format("  {:<70} {} -> {}: {} times as fast as before\n", row.key, time_text(row.before),
                        time_text(row.now), with_interval(row.ratio, 1, 3));
  }
  return text;
}

}  // namespace

int RecordComparison::count(Change change) const {
  return static_cast<int>(
      std::count_if(rows.begin(), rows.end(), [&](const ComparedRow& row) { return row.change == change; }));
}

RecordComparison compare_records(const std::vector<Record>& before, const std::vector<Record>& now, double threshold) {
  RecordComparison comparison;
  comparison.threshold = threshold;
  const auto old = by_key(before), fresh = by_key(now);
  std::set<std::string> done;
  for (const Record& record : now) {
    const std::string key = record.key();
    if (!done.insert(key).second) continue;
    const auto found = old.find(key);
    const Summary seconds = fresh.at(key)->ours().seconds;
    if (found == old.end()) comparison.rows.push_back({key, Change::added, {}, seconds});
    else comparison.rows.push_back(compared(key, found->second->ours().seconds, seconds, threshold));
  }
  for (const auto& [key, record] : old)
    if (!fresh.contains(key)) comparison.rows.push_back({key, Change::gone, record->ours().seconds});
  auto& differences = comparison.differences;
  tell_difference(
      before, now, "machine", [](const Circumstances& c) { return c.machine; }, differences);
  tell_difference(
      before, now, "program", [](const Circumstances& c) { return c.program; }, differences);
  tell_difference(
      before, now, "threads", [](const Circumstances& c) { return std::to_string(c.threads); }, differences);
  return comparison;
}

std::string comparison_text(const RecordComparison& comparison) {
  std::string text;
  for (const std::string& difference : comparison.differences) text += difference + "\n";
  text += lines_of(comparison, Change::slower, "slower than before, beyond the noise");
  text += lines_of(comparison, Change::faster, "faster than before, beyond the noise");
  text += lines_of(comparison, Change::gone, "measured before, not now");
  text += lines_of(comparison, Change::added, "measured now, not before");
  text += fmt::format(
      "{} rows: {} slower, {} faster, {} as before, {} only before, {} only now "
      "(changed: intervals apart and medians differing by more than {:.3g} %)\n",
      comparison.rows.size(), comparison.count(Change::slower), comparison.count(Change::faster),
      comparison.count(Change::none), comparison.count(Change::gone), comparison.count(Change::added),
      comparison.threshold * 100);
  return text;
}

}  // namespace isobar::bench
