// TeamLine: the line of a team of ranks to the parameter servers. Its first rank talks with them; what it is told, it
// gives to the others.
#pragma once

#include <optional>

#include "isobar/parallel/server_link.hpp"

namespace isobar::parallel {

class TeamLine {
 public:
  /// `link`: of the team's first rank; the others have none. `team` and `link` must outlive this.
  TeamLine(comm::Comm& team, ServerLink* link, bool of_first_team)
      : team_(team), link_(link), of_first_team_(of_first_team) {}

  /// Where this rank keeps what is next sent of weight p; empty where another rank talks.
  std::span<float> outgoing(int p) { return link_ ? link_->outgoing(p) : std::span<float>(); }
  void put(Replica& replica, int p, std::span<const float> numbers) {
    if (link_) link_->put(replica, p, numbers);
  }
  /// Sends what was put in, and leaves the answer in the replicas of the team.
  void exchange(Replica& replica, const optim::Step& step, double samples);
  /// Leaves the state of the servers, as it is now, in the replicas of the first team; its slots in that of the first
  /// rank.
  void fetch(Replica& replica);
  /// This team takes no more steps: as fetch(), when no team does.
  void finish(Replica& replica);

  bool of_first_team() const { return of_first_team_; }
  bool is_finished() const { return finished_; }
  bool stopping(bool mine);
  std::int64_t updates() const { return told_.updates; }
  comm::ExchangeCost cost() const;

 private:
  // What servers have said besides weights.
  struct Told {
    std::int64_t updates = 0;
    std::int64_t stop = 0;
  };
  void share(Replica& replica, bool with_statistics);

  comm::Comm& team_;
  ServerLink* link_;
  const bool of_first_team_;
  Told told_;
  std::unique_ptr<comm::GradientMemory> weights_;  ///< of all parameters, on their way to the team
  double waited_seconds_ = 0;
  bool finished_ = false;
  Chore sharing_{Category::communication, "weights for the team"};
};

}  // namespace isobar::parallel
