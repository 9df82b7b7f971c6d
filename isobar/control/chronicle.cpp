#include "isobar/control/chronicle.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <nlohmann/json.hpp>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/post_mortem/post_mortem.hpp"

namespace isobar::control {
namespace {

// A death is reported together with its cause and how the run recovered, but not later than this.
constexpr double patience_seconds = 2;

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The members of a JSON object without its braces.
std::string members_of(const nlohmann::json& object) {
  const std::string text = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return text.substr(1, text.size() - 2);
}

}  // namespace

std::string Death::cause(double freeze_seconds) const {
  if (frozen) return fmt::format("silence for {:.0f} s", freeze_seconds);
  if (signal) return fmt::format("signal {}", signal);
  return explained ? fmt::format("exit code {}", exit_code) : "an unknown cause";
}

Chronicle::Chronicle(Say say, const std::filesystem::path& log, double freeze_seconds)
    : say_(std::move(say)), freeze_seconds_(freeze_seconds) {
  if (log.empty()) return;
  log_ = std::fopen(log.c_str(), "we");
  if (!log_) fail("{} cannot be written: {}", log.string(), std::strerror(errno));
}

Chronicle::~Chronicle() {
  if (log_) std::fclose(log_);
}

void Chronicle::record(double time, const std::string& event, const std::string& rest) {
  if (!log_) return;
  fmt::print(log_,
             R"({{"event":"{}","seconds":{:.6f},"unix":{:.6f}{}{}}})"
             "\n",
             event, time, unix_seconds(), rest.empty() ? "" : ",", rest);
  std::fflush(log_);
}

void Chronicle::launched(double time, int launch, int ranks, int spares, std::int64_t pid) {
  of_launch_ = deaths_.size();
  record(time, "launch", members_of({{"launch", launch}, {"ranks", ranks}, {"spares", spares}, {"pid", pid}}));
}

void Chronicle::died(Death death) {
  deaths_.push_back(std::move(death));
  Death& last = deaths_.back();
  record(last.time, "death",
         members_of({{"rank", last.rank},
                     {"pid", last.pid},
                     {"host", last.host},
                     {"frozen", last.frozen},
                     {"worked", last.worked},
                     {"note", last.note},
                     {"finished", last_step_}}));
  going_ = going_ && !last.worked;
  if (!last.worked) last.outcome = last.end = "no rank had to wait for it";
}

void Chronicle::explained(int rank, int signal, int exit_code, const std::string& note) {
  const auto found =
      std::find_if(deaths_.begin() + of_launch_, deaths_.end(), [&](const Death& each) { return each.rank == rank; });
  if (found == deaths_.end() || found->explained) return;
  found->explained = true;
  found->signal = signal;
  found->exit_code = exit_code;
  if (!note.empty()) found->note = note;
  record(found->time, "cause",
         members_of({{"rank", rank}, {"signal", signal}, {"exit_code", exit_code}, {"note", found->note}}));
  write_post_mortem(*found);
  settle(found->time, false);
}

void Chronicle::going(double time, std::uint32_t epoch, const std::vector<int>& members) {
  std::vector<std::string> fresh;
  for (const int rank : members)
    if (std::ranges::find(members_, rank) == members_.end()) fresh.push_back(std::to_string(rank));
  for (std::size_t i = open_; i < deaths_.size(); ++i) {
    if (!deaths_[i].worked) continue;
    deaths_[i].before = last_step_;
    deaths_[i].outcome = fmt::format("{} rank{} on", members.size(), members.size() == 1 ? " goes" : "s go");
    if (fresh.size() == 1) deaths_[i].outcome += fmt::format(", rank {} takes its place", fresh[0]);
    if (fresh.size() > 1) deaths_[i].outcome += fmt::format(", ranks {} take their places", join(fresh, ", "));
  }
  members_ = members;
  going_ = true;
  record(time, "go", members_of({{"epoch", epoch}, {"members", members}, {"finished", last_step_}}));
}

void Chronicle::progress(double time, std::int64_t step) {
  last_step_ = std::max(last_step_, step);
  if (!going_ || open_ == deaths_.size()) return;
  for (; open_ < deaths_.size(); ++open_) {
    Death& death = deaths_[open_];
    if (!death.worked) continue;
    death.after = step;
    death.seconds = time - death.time;
    record(time, "recovered",
           members_of({{"rank", death.rank},
                       {"finished_before", death.before},
                       {"finished_after", step},
                       {"recovery_seconds", death.seconds}}));
    death.end = fmt::format("{}: step {} finished {:.2f} s after the death", death.outcome, step, death.seconds);
  }
  settle(time, false);
}

void Chronicle::announce(Death& death, const std::string& end) {
  death.announced = true;
  const std::string during = death.note.empty() ? "" : fmt::format(" during \"{}\"", one_line(death.note));
  say_(fmt::format("rank {} (pid {}, host {}) died of {}{}; {}", death.rank, death.pid, death.host,
                   death.cause(freeze_seconds_), during, end));
}

// Reports what can be reported; `at_last`: nothing more will come.
void Chronicle::settle(double time, bool at_last) {
  for (Death& death : deaths_) {
    const bool late = at_last || time - death.time > patience_seconds;
    if (death.told || (death.end.empty() && (!late || death.announced))) continue;
    death.told = !death.end.empty();
    if (death.announced) say_(fmt::format("after the death of rank {}: {}", death.rank, death.end));
    else if (death.end.empty()) announce(death, at_last ? "the run ended before another step" : "the others gather");
    else if (death.explained || late) announce(death, death.end);
    else death.told = false;
  }
}

void Chronicle::failed(double time, int rank, const std::string& message) {
  record(time, "failure", members_of({{"rank", rank}, {"message", message}}));
}

void Chronicle::relaunching(double time, const std::string& why) {
  for (; open_ < deaths_.size(); ++open_) {
    if (!deaths_[open_].worked) continue;
    deaths_[open_].outcome = "relaunch";
    deaths_[open_].end = "all ranks are restarted";
  }
  settle(time, false);
  members_.clear();
  going_ = false;
  record(time, "relaunch", members_of({{"why", why}, {"finished", last_step_}}));
  say_(fmt::format("the work cannot continue in place: {}", why));
}

void Chronicle::say(double time, const std::string& line) {
  record(time, "message", members_of({{"text", line}}));
  say_(line);
}

void Chronicle::tick(double time) { settle(time, false); }

void Chronicle::ended(double time, int exit_code) {
  settle(time, true);
  record(time, "end", members_of({{"exit_code", exit_code}, {"finished", last_step_}, {"deaths", deaths_.size()}}));
}

std::string Chronicle::table() const {
  if (deaths_.empty()) return {};
  std::string text = fmt::format("{:>5}  {:<16} {:<18} {:>11} {:>9} {:>11}  {}\n", "rank", "host", "died of",
                                 "step before", "after", "seconds", "then");
  for (const Death& death : deaths_) {
    const bool recovered = death.after >= 0;
    text += fmt::format(
        "{:>5}  {:<16} {:<18} {:>11} {:>9} {:>11}  {}\n", death.rank, death.host, death.cause(freeze_seconds_),
        death.before >= 0 ? std::to_string(death.before) : "-", recovered ? std::to_string(death.after) : "-",
        recovered ? fmt::format("{:.2f}", death.seconds) : "-", death.outcome.empty() ? "-" : death.outcome);
  }
  return text;
}

// In addition to what the rank may have written there itself.
void Chronicle::write_post_mortem(const Death& death) const {
  std::error_code problem;
  if (folder_.empty() || !std::filesystem::is_directory(folder_, problem)) return;
  post_mortem::PostMortem report{.rank = death.rank, .process = death.pid, .host = death.host};
  report.cause = "died of " + death.cause(freeze_seconds_);
  report.told_by = "the launcher";
  if (last_step_ >= 0) report.notes.push_back(fmt::format("step {} of the run was finished", last_step_));
  if (!death.note.empty()) report.notes.push_back(death.note);
  post_mortem::append_post_mortem(folder_, report);
}

}  // namespace isobar::control
