#include "isobar/bench/record_text.hpp"

#include <fmt/format.h>

#include "isobar/base/text.hpp"

namespace isobar::bench {
namespace {

std::string rates(const Record& record, const Entry& entry) {
  const double seconds = entry.seconds.median;
  std::string text;
  if (seconds <= 0) return text;
  if (record.flops > 0) text += fmt::format("  {:>7.1f} GF/s", record.flops / seconds * 1e-9);
  if (record.bytes > 0) text += fmt::format("  {:>7.2f} GB/s", record.bytes / seconds * 1e-9);
  if (record.samples > 0) text += fmt::format("  {:>8.4g} samples/s", record.samples / seconds);
  if (entry.peak_bytes > 0) text += fmt::format("  peak memory {}", human_bytes(entry.peak_bytes));
  return text;
}

// The aim, and whether it was reached.
std::string asked_text(const char* bound, double asked, bool met) {
  return asked > 0 ? fmt::format(" (aim: {} {:.4g}, {})", bound, asked, met ? "reached" : "MISSED") : "";
}

bool meets(double value, double most) { return most <= 0 || (value > 0 && value <= most); }

bool fast_enough(const Record& record) {
  return record.asked.speed <= 0 || record.speedup.median >= record.asked.speed;
}

}  // namespace

std::string with_interval(const Summary& s, double scale, int digits) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", s.median * scale, digits, s.low * scale, digits, s.high * scale,
                     digits);
}

std::string time_text(const Summary& seconds) {
  if (seconds.median >= 10) return with_interval(seconds, 1, 1) + " s";
  if (seconds.median >= 0.1) return with_interval(seconds, 1e3, 0) + " ms";
  return seconds.median >= 1e-3 ? with_interval(seconds, 1e3, 2) + " ms" : with_interval(seconds, 1e6, 1) + " us";
}

bool reached(const Record& record) {
  return fast_enough(record) && meets(record.memory_ratio(), record.asked.memory_ratio) &&
         meets(record.over_bare(), record.asked.over_bare);
}

std::string verdict_text(const Record& record) {
  std::vector<std::string> parts;
  if (record.speedup.median > 0)
    parts.push_back(with_interval(record.speedup, 1, 2) + " times as fast as the best peer" +
                    asked_text("at least", record.asked.speed, fast_enough(record)));
  if (const double ratio = record.memory_ratio(); ratio > 0)
    parts.push_back(
        fmt::format("{:.2f} of its memory{}", ratio,
                    asked_text("at most", record.asked.memory_ratio, meets(ratio, record.asked.memory_ratio))));
  if (const double over = record.over_bare(); over > 0)
    parts.push_back(fmt::format("{:.2f} times its bare primitives{}", over,
                                asked_text("at most", record.asked.over_bare, meets(over, record.asked.over_bare))));
  return join(parts, ", ");
}

std::string record_text(const Record& record) {
  std::string text = fmt::format("{}: {}, {}\n", record.level, record.name, record.problem);
  for (const Entry& e : record.entries)
    text += fmt::format("  {:<40} {:>30} in {:>2} runs{}\n", e.name, time_text(e.seconds), e.runs, rates(record, e));
  if (record.bare_seconds > 0)
    text += fmt::format("  {:<40} {:>30}\n", "its bare oneDNN primitives",
                        time_text({record.bare_seconds, record.bare_seconds, record.bare_seconds}));
  if (record.workspace_bytes > 0)
    text += fmt::format("  {:<40} {:>30}\n", "workspace", human_bytes(record.workspace_bytes));
  for (const auto& [name, value] : record.facts) text += fmt::format("  {:<40} {:>30.4g}\n", name, value);
  if (const std::string verdict = verdict_text(record); !verdict.empty()) text += "  " + verdict + "\n";
  return text;
}

}  // namespace isobar::bench
