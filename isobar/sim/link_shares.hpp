// LinkShares: sums under way at the same time, round by round, on links they share. A round alone moves its bytes at
// full speed; of several at once each gets a speed such that no link carries more than it can, the slowest as fast as
// possible (max-min fairness). Latency and adding pass beside what others do.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace isobar::sim {

/// What part of a link's capacity a round uses when it is alone.
struct LinkShare {
  int link = 0;
  float part = 0;
};

/// Rounds of one kind, one after the other, seconds of all of them.
struct RoundPhase {
  int round = 0;  ///< the kind: what its links are asked by
  double latency = 0, transfer = 0, adding = 0;
};

class LinkShares {
 public:
  using Shares = std::function<std::span<const LinkShare>(int round)>;
  explicit LinkShares(Shares shares) : shares_(std::move(shares)) {}

  /// Begins a sum; not earlier than anything that was asked before. Returns its number.
  int begin(double at, std::vector<RoundPhase> phases);
  /// When a sum ends, if no other begins before.
  double end(int sum);

 private:
  enum class Part { latency, transfer, adding, over };
  struct UnderWay {
    std::vector<RoundPhase> phases{};
    std::size_t phase = 0;
    Part part = Part::latency;
    double left = 0;   // seconds of this part at full speed
    double speed = 1;  // of a transfer
    double ended = -1;
  };

  void next_part(UnderWay& sum) const;
  void share_out();
  /// Goes on to the next change, but not beyond `until`; returns whether anything is under way.
  bool advance(double until);
  const std::vector<double>& speeds(const std::vector<int>& rounds);

  Shares shares_;
  double now_ = 0;
  std::vector<UnderWay> sums_;
  std::vector<int> active_;
  std::map<std::vector<int>, std::vector<double>> known_;  // speeds by rounds, which are in order
  std::vector<double> wanted_, used_;                      // by link
  std::unordered_map<int, double> full_at_;                // link -> speed at which it became full
};

}  // namespace isobar::sim
