// chrome_trace: traced steps for the trace viewers people use (Perfetto, chrome://tracing): trace/rank<r>.json, a JSON
// array with one event per line. trace_row.hpp defines the rows of a rank. Messages of the model say whom this rank
// exchanges them with.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/clock.hpp"
#include "isobar/graph/plan_messages.hpp"
#include "isobar/record/kept_bytes.hpp"
#include "isobar/record/sinks.hpp"
#include "isobar/record/trace_row.hpp"

namespace isobar::record {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view tail = "\n]\n";
constexpr std::int64_t pause = 1'000'000'000;  // nanoseconds, between two sessions whose clocks do not match

// In whole nanoseconds, so that writing creates no overlaps by rounding.
struct When {
  std::int64_t begin, end;
};

// The row of its lane that an event gets: the first free one, so that no two events in a row overlap.
class Rows {
 public:
  int take(Lane lane, When when) {
    if (lane == Lane::main) return TraceRow{lane}.number();
    std::vector<std::int64_t>& ends = lane == Lane::exchange ? exchange_ : reader_;
    std::size_t place = 0;
    while (place < ends.size() && ends[place] > when.begin) ++place;
    if (place == ends.size()) ends.emplace_back();
    ends[place] = when.end;
    return TraceRow{lane, static_cast<int>(place)}.number();
  }

 private:
  std::vector<std::int64_t> exchange_, reader_;
};

std::string row_name(int row) {
  const std::optional<TraceRow> of_lane = TraceRow::of(row);
  return of_lane ? of_lane->name() : "steps";
}

std::string json_text(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Further arguments of the events that show messages of the plan, by the event's name.
std::map<std::string, std::string> partners_in(const graph::Plan* plan) {
  std::map<std::string, std::string> texts;
  if (!plan) return texts;
  for (const graph::NodeMessages& each : graph::messages_of(*plan))
    texts[graph::message_name(each.node)] =
        fmt::format(R"(,"circle":{},"partners":{})", json_text(each.circle), Json(each.partners).dump());
  return texts;
}

double number(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : 0;
}

class ChromeTrace final : public train::Sink {
 public:
  explicit ChromeTrace(std::int64_t most_bytes) : most_bytes_(most_bytes) {}
  bool on_every_rank() const override { return true; }

  void start(const train::Start& start) override {
    const auto path = rank_file(start, "trace", ".json");
    if (!path) return;
    rank_ = start.rank;
    serves_ = start.serves;
    partners_ = partners_in(start.plan);
    planned_ = static_cast<double>(std::max<std::int64_t>(1, start.epochs * start.steps_per_epoch));
    file_ = disk::LateFile(*path, kept(*path, start), {.tail = std::string(tail), .makes_folder = true});
    file_.append(file_.length() > 0 ? ""
                                    : fmt::format("[\n{}", named("process_name", TraceRow::steps,
                                                                 fmt::format("rank {}{}", rank_,
                                                                             serves_ ? ", keeps parameters" : ""))));
  }

  void traced(const train::StepTraced& step) override {
    if (!file_.is_open()) return;
    const double due = static_cast<double>(most_bytes_) * step.step / planned_;
    if (static_cast<double>(file_.length()) > due && !first_) return;
    const std::set<int> named_before = named_;
    const std::string text = block(step);
    if (file_.length() + static_cast<std::int64_t>(text.size() + tail.size()) > most_bytes_) {
      named_ = named_before;
      return;
    }
    file_.append(text);
    first_ = false;
  }

  void end(const train::End&) override { file_.close(); }

 private:
  // Keeps the events of an earlier session, without its end. If the clock has restarted in the meantime, later times
  // are shifted after them.
  std::int64_t kept(const fs::path& path, const train::Start& start) {
    if (!start.goes_on()) return 0;
    double last = 0;
    bool any = false;
    const std::uintmax_t bytes = kept_bytes(path, start, [&](const Json& event) {
      any = true;
      last = std::max(last, number(event, "ts") + number(event, "dur"));
    });
    if (!any) return 0;
    const std::int64_t end = std::llround(last * 1e3), now = std::llround(now_seconds() * 1e9);
    if (now < end) shift_ = end - now + pause;
    std::ifstream in(path);
    in.seekg(static_cast<std::streamoff>(bytes) - 2);
    return static_cast<std::int64_t>(bytes) - (in.get() == ',' ? 2 : 1);
  }

  std::string named(const char* what, int row, const std::string& name) {
    return fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", what, rank_, row,
                       json_text(name));
  }

  When when(double begin, double seconds) const {
    return {std::llround(begin * 1e9) + shift_, std::llround((begin + seconds) * 1e9) + shift_};
  }

  std::string block(const train::StepTraced& step) {
    std::string text, rows;
    const auto put = [&](std::string_view name, std::string_view category, When at, int row, double flops, double bytes,
                         std::string_view more = "") {
      if (named_.insert(row).second) rows += ",\n" + named("thread_name", row, row_name(row));
      const std::int64_t lasts = std::max<std::int64_t>(0, at.end - at.begin);
      fmt::format_to(std::back_inserter(text),
                     ",\n"
                     R"({{"name":{},"cat":"{}","ph":"X","ts":{}.{:03},"dur":{}.{:03},"pid":{},"tid":{},)"
                     R"("args":{{"step":{},"flops":{:.0f},"bytes":{:.0f}{}}}}})",
                     name, category, at.begin / 1000, at.begin % 1000, lasts / 1000, lasts % 1000, rank_, row,
                     step.step, flops, bytes, more);
    };
    const When whole = when(step.begin, step.seconds);
    double flops = 0, bytes = 0;
    for (const Event& event : step.events)
      if (event.lane == Lane::main) flops += event.flops, bytes += event.bytes;
    put(fmt::format("\"{} {}\"", serves_ ? "update" : "step", step.step), "step", whole, TraceRow::steps, flops, bytes);
    Rows taken;
    std::int64_t last = whole.begin;  // keeps rounding from creating overlaps in the main lane
    for (const Event& event : step.events) {
      When at = when(event.begin, event.seconds);
      at.end = std::min(at.end, whole.end);
      if (event.lane == Lane::main) {
        at.begin = std::clamp(at.begin, last, std::max(last, whole.end));
        last = std::max(last, at.end);
      }
      put(name_of(*step.trace, event.name), category_name(event.category), at, taken.take(event.lane, at), event.flops,
          event.bytes, partners_of(*step.trace, event));
    }
    return rows + text;
  }

  // As JSON; converted once for each name.
  const std::string& name_of(const Trace& trace, std::uint32_t name) {
    while (names_.size() <= name) names_.push_back(json_text(trace.names()[names_.size()]));
    return names_[name];
  }

  std::string_view partners_of(const Trace& trace, const Event& event) const {
    if (event.lane != Lane::exchange) return "";
    const auto found = partners_.find(trace.names()[event.name]);
    return found == partners_.end() ? "" : std::string_view(found->second);
  }

  const std::int64_t most_bytes_;
  int rank_ = 0;
  bool serves_ = false;
  double planned_ = 1;
  std::map<std::string, std::string> partners_;  // of messages of the plan, as arguments, by the name of their events
  disk::LateFile file_;
  bool first_ = true;       // no step has been written in this session
  std::int64_t shift_ = 0;  // added to this session's times, nanoseconds
  std::set<int> named_;     // rows whose name has been written
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<train::Sink> chrome_trace(std::int64_t most_bytes) { return std::make_unique<ChromeTrace>(most_bytes); }

}  // namespace isobar::record
