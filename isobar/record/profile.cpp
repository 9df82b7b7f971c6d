// profile: where the time of traced steps went on this rank, by category, as one JSON line each in
// profile/rank<r>.jsonl. The seconds of the categories, including idle, add up to the step.
#include <algorithm>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "isobar/record/kept_bytes.hpp"
#include "isobar/record/sinks.hpp"

namespace isobar::record {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Interval {
  double begin, end;
};

// Disjoint and in order.
std::vector<Interval> united(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  std::vector<Interval> all;
  for (const Interval& next : intervals) {
    if (!all.empty() && next.begin <= all.back().end) all.back().end = std::max(all.back().end, next.end);
    else all.push_back(next);
  }
  return all;
}

double length(const std::vector<Interval>& intervals) {
  double sum = 0;
  for (const Interval& i : intervals) sum += i.end - i.begin;
  return sum;
}

double common(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum += std::max(0.0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
    a[i].end < b[j].end ? ++i : ++j;
  }
  return sum;
}

std::string host() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

class Profile final : public train::Sink {
 public:
  bool on_every_rank() const override { return true; }

  void start(const train::Start& start) override {
    const auto path = rank_file(start, "profile", ".jsonl");
    if (!path) {
      fmt::print(stderr, "isobar: rank {} does not see the run folder '{}': it writes no profile and no trace\n",
                 start.rank, start.folder.string());
      return;
    }
    file_ = open_lines(*path, start, {.makes_folder = true}).file;
    OrderedJson first{{"kind", "start"},    {"step", start.first_step}, {"rank", start.rank},
                      {"node", start.node}, {"host", host()},           {"threads", start.threads}};
    if (start.serves) first["role"] = "serves";
    put(first);
  }

  void traced(const train::StepTraced& step) override {
    if (!file_.is_open()) return;
    const ProfiledStep sums = profile_of(step);
    OrderedJson totals = OrderedJson::object();
    for (int c = 0; c < category_count; ++c) {
      const CategoryTotal& total = sums.totals[c];
      if (total.events == 0) continue;
      totals[std::string(category_name(static_cast<Category>(c)))] = {
          {"events", total.events}, {"seconds", total.seconds}, {"flops", total.flops}, {"bytes", total.bytes}};
    }
    put({{"kind", "step"},
         {"step", sums.step},
         {"seconds", sums.seconds},
         {"hidden_exchange_seconds", sums.hidden_exchange_seconds},
         {"totals", std::move(totals)}});
  }

  void end(const train::End&) override {
    if (file_.is_open()) file_.close();
  }

 private:
  void put(const OrderedJson& object) {
    file_.append(object.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
  }

  disk::LateFile file_;
};

}  // namespace

ProfiledStep profile_of(const train::StepTraced& step) {
  ProfiledStep sums{.step = step.step, .seconds = step.seconds};
  std::vector<Interval> exchange, waited;
  for (const Event& event : step.events) {
    const Interval when{event.begin, event.begin + event.seconds};
    if (event.lane == Lane::exchange) exchange.push_back(when);
    if (event.lane != Lane::main) continue;
    if (event.category == Category::communication) waited.push_back(when);
    CategoryTotal& total = sums.totals[static_cast<std::size_t>(event.category)];
    ++total.events;
    total.seconds += event.seconds;
    total.flops += event.flops;
    total.bytes += event.bytes;
  }
  exchange = united(std::move(exchange));
  sums.hidden_exchange_seconds = length(exchange) - common(exchange, united(std::move(waited)));
  return sums;
}

std::unique_ptr<train::Sink> profile() { return std::make_unique<Profile>(); }

}  // namespace isobar::record
