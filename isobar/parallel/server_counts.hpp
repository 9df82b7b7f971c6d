// What parameter servers count while they serve, of each worker and of themselves: how old gradients were, who waited
// and who let others wait, how busy a server was. The first worker is told with the state.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace isobar::parallel {

/// How often gradients had each age. Ages of 16 and more share a place with those up to twice their power of two.
class AgeCounts {
 public:
  static constexpr int places = 28, apart = 16;

  void add(std::int64_t age);
  void add(const AgeCounts& others);
  /// The ages of one place: the first and the last.
  static std::pair<std::int64_t, std::int64_t> ages(int place);
  std::int64_t at(int place) const { return counts_.at(place); }
  std::int64_t updates() const;
  double mean() const;
  std::int64_t most() const { return most_; }
  /// "0: 12, 1: 30, 16-31: 2"
  std::string str() const;

 private:
  std::array<std::int64_t, places> counts_{};
  std::int64_t sum_ = 0, most_ = 0;
};

/// Of one worker: of its pushes, in updates of the model that lay between reading weights and writing.
struct WorkerCounts {
  AgeCounts ages{};
  double waited_seconds = 0;   ///< for other workers, after its pushes had arrived
  double delayed_seconds = 0;  ///< that others waited until it had pushed
  std::int32_t died = 0;
};

/// Of one server.
struct ServerCounts {
  double busy_seconds = 0, seconds = 0;
  std::int64_t pushes = 0;
  double share() const { return seconds > 0 ? busy_seconds / seconds : 0; }
};

/// What one run or a part of it came to.
struct ServingCounts {
  std::vector<WorkerCounts> workers{};  ///< as the first server has counted
  std::vector<ServerCounts> servers{};

  AgeCounts ages() const;
  /// What came of it in a line, for the end of a run: `ranks` are those of the workers. Empty if nothing was pushed.
  std::string summary(std::span<const int> ranks) const;
  /// The part of it that tells who let others wait, and how busy servers were: "the server was busy 31 % of the time".
  std::string strain(std::span<const int> ranks) const;
};

}  // namespace isobar::parallel
