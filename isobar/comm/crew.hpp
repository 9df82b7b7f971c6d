// Crew: the ranks at work in a world whose ranks may die. A rank that catches MembersChanged drops its groups, keeps
// what it has in memory, and musters again: the ranks that are left, and spares, become the next group.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "isobar/comm/comm.hpp"

namespace isobar::comm {

/// The epoch of the first group of a crew whose ranks may die; every later epoch has lost a rank.
inline constexpr std::uint32_t first_epoch = 1;

class Crew {
 public:
  virtual ~Crew() = default;

  /// The group of ranks at work, including this one; waits until there is one, a spare until it is needed. `usable`
  /// says how many of the available ranks can work together, the same on all ranks; the others stand by. Null when the
  /// work is over and this rank is no longer needed; throws Aborted when the world ends.
  virtual std::unique_ptr<Comm> muster(const std::function<int(int available)>& usable) = 0;
  /// The work cannot continue in place: all ranks end, and are restarted from the newest checkpoint. Throws Aborted.
  [[noreturn]] virtual void give_up(const std::string& why) = 0;
  /// Whether ranks may die without ending the work; if not, muster() gives the group of all ranks, once.
  virtual bool elastic() const = 0;
};

/// The crew of a world that ends when one of its ranks dies: all of them, once.
std::unique_ptr<Crew> fixed_crew(Comm& world);

}  // namespace isobar::comm
