// Circle: ranks that talk with each other, as plain data: who they are, whether they wait for each other, and whose
// waits end when one of them dies. Lists only, so that one process can say what any number of ranks will do.
#pragma once

#include <string>
#include <vector>

namespace isobar::comm {

/// How far ranks of a circle may be apart.
enum class Pace {
  lockstep,  ///< all do the same at the same time, and may wait for each other
  bounded,   ///< some steps at most
  free,      ///< nobody waits for anybody
};

/// Whose waits end when a member dies or gives up.
enum class Fate {
  world,  ///< those of all ranks
  group,  ///< those of this circle
  peer,   ///< those that wait for this rank
};

struct Circle {
  std::string name;        ///< "team"
  std::vector<int> ranks;  ///< in the world, in order
  Pace pace = Pace::lockstep;
  Fate fate = Fate::world;
  friend bool operator==(const Circle&, const Circle&) = default;
};

}  // namespace isobar::comm
