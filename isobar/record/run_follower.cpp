#include "isobar/record/run_follower.hpp"

#include <chrono>

#include "isobar/record/exchange_json.hpp"

namespace isobar::record {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string kind_of(const Json& line) { return member<std::string>(line, "kind"); }

train::BadStep bad_step(const Json& line) {
  train::BadStep bad{member<std::int64_t>(line, "step"), member<std::int64_t>(line, "epoch"),
                     member<std::string>(line, "found")};
  if (line.contains("back_to")) bad.back_to = member<std::int64_t>(line, "back_to");
  bad.bad = bad_steps(line);
  return bad;
}
std::int64_t step_of_line(const Json& line) { return member<std::int64_t>(line, "step"); }

// Takes lines until one is not an object: nothing after it can be trusted.
void take(LineTail& tail, std::deque<Json>& lines, bool& damaged) {
  for (std::vector<std::string> fresh = tail.fresh(); !fresh.empty(); fresh = tail.fresh())
    for (const std::string& text : fresh) {
      Json line = damaged ? Json() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
      damaged |= !line.is_object();
      if (!damaged) lines.push_back(std::move(line));
    }
}

train::StepDone step_done(const Json& figures, const Json& times, std::int64_t step_in_epoch) {
  train::StepDone step;
  step.step = step_of_line(figures);
  step.epoch = member<std::int64_t>(figures, "epoch");
  step.step_in_epoch = step_in_epoch;
  step.samples = member<std::int64_t>(times, "samples");
  step.loss = member<double>(figures, "loss");
  step.learning_rate = member<double>(figures, "learning_rate");
  step.seconds = member<double>(times, "seconds");
  step.wait_seconds = member<double>(times, "wait_seconds");
  step.exchange_seconds = member<double>(times, "exchange_seconds");
  step.bytes_sent = member<std::int64_t>(times, "bytes_sent");
  step.costs = {cost_in(times, "gradients"), cost_in(times, "messages")};
  return step;
}

train::EpochDone epoch_done(const Json& figures, const Json& times) {
  train::EpochDone epoch;
  epoch.epoch = member<std::int64_t>(figures, "epoch");
  epoch.step = step_of_line(figures);
  epoch.train_loss = member<double>(figures, "train_loss");
  epoch.test = member_numbers(figures, "test");
  epoch.validation = member_numbers(figures, "validation");
  epoch.train_seconds = member<double>(times, "train_seconds");
  epoch.test_seconds = member<double>(times, "test_seconds");
  return epoch;
}

}  // namespace

RunFollower::RunFollower(fs::path folder)
    : folder_(std::move(folder)), metrics_(folder_ / "metrics.jsonl"), timing_(folder_ / "timing.jsonl") {}

RunFollower::Change RunFollower::poll(train::Sink& listener) {
  // Times differ between runs; figures may be equal.
  const LineTail::Past figures = metrics_.past(), times = timing_.past();
  if (figures != LineTail::Past::there || times != LineTail::Past::there) {
    metrics_.restart();
    timing_.restart();
    figures_.clear();
    times_.clear();
    damaged_figures_ = damaged_times_ = false;
    return times == LineTail::Past::gone ? Change::anew : Change::cut;
  }
  take(metrics_, figures_, damaged_figures_);
  take(timing_, times_, damaged_times_);
  bool told = false;
  while (tell_next(listener)) told = true;
  return told ? Change::more : Change::none;
}

// The files are written in turns, and either may be ahead: an event in both files is sent once both have it.
bool RunFollower::tell_next(train::Sink& listener) {
  if (times_.empty()) return false;
  const std::string kind = kind_of(times_.front());
  if (kind == "start" || kind == "members" || kind == "checkpoint") {
    const Json line = std::move(times_.front());
    times_.pop_front();
    if (kind != "checkpoint") tell_start(listener, line);
    else
      listener.checkpoint({folder_ / "checkpoints" / member<std::string>(line, "file"), step_of_line(line),
                           member<double>(line, "bytes"), member<double>(line, "seconds"),
                           member<double>(line, "write_seconds")});
    return true;
  }
  if (figures_.empty()) return false;
  if (kind_of(figures_.front()) == "bad_step") {
    listener.bad_step(bad_step(figures_.front()));
    figures_.pop_front();
    return true;
  }
  // A line without a counterpart means that the other file lost some.
  const auto order = [](const Json& line) {
    const std::string what = kind_of(line);
    return std::pair(step_of_line(line), what == "step" ? 0 : what == "epoch" ? 1 : 2);
  };
  if (order(figures_.front()) != order(times_.front())) {
    (order(figures_.front()) < order(times_.front()) ? figures_ : times_).pop_front();
    return true;
  }
  const Json figures = std::move(figures_.front()), times = std::move(times_.front());
  figures_.pop_front();
  times_.pop_front();
  if (kind == "step") {
    step_in_epoch_ = member<std::int64_t>(times, "step_in_epoch", step_in_epoch_ + 1);
    listener.step(step_done(figures, times, step_in_epoch_));
  } else if (kind == "epoch") {
    step_in_epoch_ = 0;
    listener.epoch(epoch_done(figures, times));
  } else if (kind == "end") {
    tell_end(listener, figures, times);
  }
  return true;
}

void RunFollower::tell_start(train::Sink& listener, const Json& line) {
  facts_ = read_run_facts(folder_);
  train::Start start;
  start.recipe = facts_.recipe;
  start.folder = folder_;
  start.first_step = step_of_line(line);
  if (line.contains("change")) {
    start.changes = train::changes_in("[" + line["change"].dump() + "]");
    start.first_step = member(line["change"], "step", start.first_step);
  }
  // Also in this line, so that it is known for runs without a description.
  start.threads = member(line, "threads", 1);
  start.ranks = member(line, "ranks", 1);
  start.nodes = member(line, "nodes", 1);
  start.global_batch = member<std::int64_t>(line, "global_batch", 1);
  start.parameters = member<std::int64_t>(line, "parameters");
  start.flops_per_sample = member<double>(line, "flops_per_sample");
  start.arena_bytes = member<std::size_t>(line, "arena_bytes");
  start.weight_bytes = member<std::size_t>(line, "weight_bytes");
  start.snapshot_bytes = member<std::size_t>(line, "snapshot_bytes");
  start.train_samples = facts_.train_samples;
  start.test_samples = facts_.test_samples;
  start.validation_samples = facts_.validation_samples;
  start.epochs = facts_.planned_epochs;
  if (start.epochs == 0 && facts_.recipe.find("train"))
    start.epochs = Args(facts_.recipe, "recipe").section("train").integer("epochs", 0);
  start.steps_per_epoch = facts_.steps_per_epoch;
  start.batching = facts_.batching;
  start.strategy = facts_.strategy;
  start.teams = facts_.teams;
  start.placement = facts_.placement;
  start.ways = facts_.ways;
  start.part = facts_.part;
  listener.start(start);
}

void RunFollower::tell_end(train::Sink& listener, const Json& figures, const Json& times) const {
  train::End end;
  end.reason = member<std::string>(figures, "reason") == "finished" ? train::End::Reason::finished
                                                                    : train::End::Reason::interrupted;
  end.steps = step_of_line(figures);
  end.test = member_numbers(figures, "test");
  end.bad = bad_steps(figures);
  end.seconds = member<double>(times, "seconds");
  end.step_seconds = member<double>(times, "step_seconds");
  end.exchanged = member<std::string>(times, "exchanged");
  if (times.contains("skipped")) end.skipped = member<std::int64_t>(times, "skipped");
  listener.end(end);
}

std::optional<double> RunFollower::last_written() const {
  std::optional<double> last;
  for (const char* name : {"metrics.jsonl", "timing.jsonl"}) {
    std::error_code problem;
    const auto time = fs::last_write_time(folder_ / name, problem);
    if (problem) continue;
    const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
    last = std::max(last.value_or(0), std::chrono::duration<double>(since).count());
  }
  return last;
}

}  // namespace isobar::record
