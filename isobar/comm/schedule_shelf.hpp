// ScheduleShelf: caches the schedules of one algorithm by length, because every training step needs the same ones.
#pragma once

#include <map>
#include <memory>

#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

class ScheduleShelf {
 public:
  ScheduleShelf(std::unique_ptr<Algorithm> algorithm, Group group)
      : algorithm_(std::move(algorithm)), group_(std::move(group)) {}
  /// Of an algorithm of all_reduces().
  ScheduleShelf(const Spec& algorithm, Group group)
      : ScheduleShelf(make(all_reduces(), algorithm, "algorithm"), std::move(group)) {}

  /// The schedule for `count` numbers; it lives as long as the shelf.
  const Schedule& of(std::size_t count) {
    const auto [found, is_new] = schedules_.try_emplace(count);
    if (is_new) found->second = algorithm_->schedule(group_, count);
    return found->second;
  }

 private:
  std::unique_ptr<Algorithm> algorithm_;
  Group group_;
  std::map<std::size_t, Schedule> schedules_;
};

}  // namespace isobar::comm
