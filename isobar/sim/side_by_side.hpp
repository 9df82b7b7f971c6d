// SideBySide: parts of a model that each compute and talk in their own way, played in one loop. A part that has to wait
// for messages lets the others go on until all have begun theirs; who takes no part in these is not held up.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "isobar/parallel/placement.hpp"
#include "isobar/sim/joint_pass.hpp"

namespace isobar::sim {

/// Messages that belong together: those of one talk of some parts.
struct JointTalk {
  std::string circle{};                   ///< its name
  std::vector<int> circle_parts{};        ///< by rank of the circle
  int parts = 0;                          ///< that send or receive
  std::vector<const ops::Talk*> talks{};  ///< what begins it, by part; null: nothing, or not yet
  std::vector<double> begun{}, ends{};    ///< for who keeps clocks, by rank
  int begun_parts = 0, ended_parts = 0;

  bool complete() const { return begun_parts == parts; }
};

/// What time is while parts play.
class PartClocks {
 public:
  virtual ~PartClocks() = default;
  virtual void compute_part(int part, double seconds) = 0;
  virtual void begin_talk(int part, JointTalk& joint) = 0;
  /// All parts have begun.
  virtual void meet(JointTalk& joint) = 0;
  virtual void end_talk(int part, const JointTalk& joint) = 0;
};

class SideBySide {
 public:
  /// `ranks` says who is in which circle, alike for all replicas; they are those of the world from `first` on.
  SideBySide(std::span<const Workload* const> parts, std::span<const parallel::Placement> ranks, int first = 0);

  /// Plays what parts do; false: some wait for messages that do not come.
  bool play(std::span<const std::vector<PartStretch>> parts, PartClocks& clocks);

 private:
  using Name = std::pair<std::string, int>;  // circle and number of a talk

  struct Part {
    std::map<std::string, std::vector<int>> circles{};  // parts of the members, by name
    std::map<Name, JointTalk*> open{};                  // begun and not ended; null: without messages
    std::map<Name, int> begun{};                        // how often
  };
  struct Partners {
    int first, count;  // parts that a talk connects
  };

  void connect(int part, const ops::Talk& talk, std::map<Name, std::vector<int>>& connected);
  bool step(int part, const PartStretch& stretch, PartClocks& clocks);
  void begin(int part, const ops::Talk& talk, PartClocks& clocks);
  void end(int part, const Name& name, PartClocks& clocks);

  std::vector<Part> parts_;
  std::map<Name, std::vector<Partners>> partners_;                     // by part
  std::map<std::tuple<std::string, int, int, int>, JointTalk> joint_;  // by name, how often before, and first part
};

/// Whether parts can be played so: they agree on gradients, and whatever begins ends, step after step.
bool go_together(std::span<const Workload* const> parts, std::span<const parallel::Placement> ranks, int first = 0);

}  // namespace isobar::sim
