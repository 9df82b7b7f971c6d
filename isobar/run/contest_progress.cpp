#include "isobar/run/contest_progress.hpp"

#include <fmt/format.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/text.hpp"

namespace isobar::run {

void ContestProgress::begin(const ContestPlace& place, const std::filesystem::path& folder) {
  place_ = place;
  follower_.emplace(folder);
  start_ = {}, last_ = {}, rate_ = {};
  begin_ = now_seconds();
}

void ContestProgress::look() {
  constexpr double pause = 0.2;
  if (now_seconds() - looked_ < pause) return;
  looked_ = now_seconds();
  // What an earlier run left in the folder is not this run's: once it is replaced all is read anew.
  using Change = record::RunFollower::Change;
  for (Change change = Change::cut; change == Change::cut || change == Change::anew;) {
    change = follower_->poll(*this);
    if (change == Change::anew) last_ = {}, rate_ = {};
  }
  if (line_.due()) line_.show(status());
}

void ContestProgress::start(const train::Start& start) { start_ = start; }

void ContestProgress::step(const train::StepDone& step) {
  last_ = step;
  rate_.add(step);
}

double ContestProgress::part_done() const {
  const std::int64_t steps = start_.epochs * start_.steps_per_epoch;
  return steps > 0 ? std::min(1.0, static_cast<double>(last_.step) / static_cast<double>(steps)) : 0;
}

// The time of this run, and of those that follow, by the runs so far and the part of this one.
std::string ContestProgress::status() const {
  std::string text = fmt::format("run {} of {}: {}", place_.run, place_.runs, place_.name);
  if (last_.step == 0) return text + ": starting";
  text += fmt::format(", epoch {} of {}, loss {:.4g}, {:.4g} samples/s", last_.epoch, start_.epochs, last_.loss,
                      rate_.samples_per_second());
  const double spent = now_seconds() - begin_, part = part_done();
  if (part <= 0 || spent < 1) return text;
  const double mine = spent * (1 - part) / part;
  const double each = (ended_seconds_ + spent) / (static_cast<double>(ended_) + part);
  return text + fmt::format(", {} left; all runs: {} left", human_seconds(mine),
                            human_seconds(mine + each * static_cast<double>(place_.left)));
}

void ContestProgress::close(const std::string& how) {
  const double spent = now_seconds() - begin_;
  ended_seconds_ += spent, ++ended_;
  line_.clear();
  line_.print(fmt::format("run {} of {}: {}: {}, {}", place_.run, place_.runs, place_.name, how, human_seconds(spent)));
}

}  // namespace isobar::run
