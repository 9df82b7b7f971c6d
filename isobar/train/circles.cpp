#include "isobar/train/circles.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::train {

exec::TalkSetting Circles::setting(const graph::Plan& plan) {
  exec::TalkSetting setting{
      {}, {.warn_seconds = limits_.warn_seconds, .stall_seconds = limits_.stall_seconds}, &trace_};
  for (const std::string& name : plan.circles()) {
    std::unique_ptr<comm::Comm>& made = made_[name];
    if (!made) {
      const auto& circles = groups_.placement.circles;
      const auto circle = std::ranges::find(circles, name, &comm::Circle::name);
      expects(circle != circles.end(), "a circle of this rank's placement for each that a plan talks in");
      made = groups_.all.among(circle->ranks);
    }
    setting.circles[name] = made.get();
  }
  return setting;
}

}  // namespace isobar::train
